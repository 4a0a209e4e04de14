import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from "react";
import { data, Form, redirect, useNavigation } from "react-router";
import * as v from "valibot";
import type { Route } from "./+types/contact";

/** The rules, with their messages, for the browser and the server. */
const Message = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter your name."), v.maxLength(100, "Use at most 100 letters.")),
  email: v.pipe(v.string(), v.trim(), v.email("Enter an address, such as ada@example.org.")),
  text: v.pipe(v.string(), v.trim(), v.nonEmpty("Write what we can do for you."), v.maxLength(5000, "Use less text.")),
});

type Message = v.InferOutput<typeof Message>;
type Errors = { [Name in keyof Message]?: string };

function validate(form: FormData) {
  const values = Object.fromEntries(form) as Message;
  const { success, output, issues } = v.safeParse(Message, values);
  if (success) return { message: output };
  const { nested = {} } = v.flatten<typeof Message>(issues);
  const errors: Errors = { name: nested.name?.[0], email: nested.email?.[0], text: nested.text?.[0] };
  return { values, errors };
}

export async function action({ request }: Route.ActionArgs) {
  const { message, ...rejected } = validate(await request.formData());
  if (!message) return data(rejected, { status: 400 });
  await send(message);
  // A reload of the next page doesn't send the form again.
  return redirect("/contact?sent", 303);
}

/** Yours: sends an e-mail, or saves the message. If it throws, the user gets the error page, and the log the error. */
async function send(_message: Message) {}

export function loader({ url }: Route.LoaderArgs) {
  return { isSent: url.searchParams.has("sent") };
}

export const meta: Route.MetaFunction = () => [{ title: "Contact" }];

export default function Contact({ loaderData, actionData }: Route.ComponentProps) {
  const [errors, setErrors] = useState<Errors | undefined>(actionData?.errors);
  const form = useRef<HTMLFormElement>(null);
  const isSending = useNavigation().formAction === "/contact";
  useEffect(() => setErrors(actionData?.errors), [actionData]);
  useEffect(() => {
    if (errors) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [errors]);

  function checkFirst(event: FormEvent<HTMLFormElement>) {
    const rejected = validate(new FormData(event.currentTarget));
    setErrors(rejected.errors);
    if (rejected.errors) event.preventDefault();
  }

  if (loaderData.isSent) {
    return (
      <main>
        <h1>Thank you</h1>
        <p role="status">Your message is on its way. We answer within a day.</p>
      </main>
    );
  }
  const values: Partial<Message> = actionData?.values ?? {};
  return (
    <main>
      <h1>Contact</h1>
      <p>Write to us. We answer within a day.</p>
      {/* The browser's own messages differ from the server's, and show one fault at a time. */}
      <Form method="post" noValidate ref={form} onSubmit={checkFirst}>
        <Field label="Name" name="name" autoComplete="name" defaultValue={values.name} error={errors?.name} />
        <Field
          label="E-mail"
          name="email"
          type="email"
          autoComplete="email"
          defaultValue={values.email}
          error={errors?.email}
        />
        <label htmlFor="text">Message</label>
        <textarea id="text" name="text" rows={6} defaultValue={values.text} {...describe("text", errors?.text)} />
        <ErrorText name="text" error={errors?.text} />
        <button type="submit" disabled={isSending}>
          {isSending ? "Sending…" : "Send"}
        </button>
      </Form>
    </main>
  );
}

type FieldProps = ComponentProps<"input"> & { label: string; name: string; error: string | undefined };

function Field({ label, name, error, ...props }: FieldProps) {
  return (
    <>
      <label htmlFor={name}>{label}</label>
      <input id={name} name={name} {...describe(name, error)} {...props} />
      <ErrorText name={name} error={error} />
    </>
  );
}

/** The attributes of a control, for screen readers. */
const describe = (name: string, error: string | undefined) => ({
  "aria-invalid": error !== undefined,
  "aria-describedby": error && `${name}-error`,
});

function ErrorText({ name, error }: { name: string; error: string | undefined }) {
  return error && <p id={`${name}-error`}>{error}</p>;
}
