import { useEffect, useRef } from "react";
import { data, Form, redirect, useNavigation } from "react-router";
import * as v from "valibot";
import { mailContext } from "../mail.server";
import type { Route } from "./+types/feedback";

const Feedback = v.object({
  text: v.pipe(v.string(), v.trim(), v.nonEmpty("Write what we can do better."), v.maxLength(5000, "Use less text.")),
  email: v.pipe(v.string(), v.trim(), v.regex(/^$|^[^\s@]+@[^\s@]+$/, "Enter an address, or none.")),
});

type Values = v.InferOutput<typeof Feedback>;
type Errors = { text?: string | undefined; email?: string | undefined; form?: string };

export async function action({ request, context }: Route.ActionArgs) {
  const values = Object.fromEntries(await request.formData()) as Values;
  const reject = (errors: Errors, status: number) => data({ values, errors }, { status });
  const { success, output, issues } = v.safeParse(Feedback, values);
  if (!success) {
    const { nested } = v.flatten<typeof Feedback>(issues);
    return reject({ text: nested?.text?.[0], email: nested?.email?.[0] }, 400);
  }
  const { text, email } = output;
  const isSent = await context.get(mailContext).send({ subject: "Feedback", text, replyTo: email || undefined });
  if (!isSent) return reject({ form: "Your feedback could not be sent. Please try again in a minute." }, 502);
  // A reload of the next page doesn't send the mail again.
  return redirect("/feedback?sent", 303);
}

export function loader({ url }: Route.LoaderArgs) {
  return { isSent: url.searchParams.has("sent") };
}

export const meta: Route.MetaFunction = () => [{ title: "Feedback" }];

export default function FeedbackPage({ loaderData, actionData }: Route.ComponentProps) {
  const form = useRef<HTMLFormElement>(null);
  const isSending = useNavigation().formAction === "/feedback";
  useEffect(() => {
    if (actionData) form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
  }, [actionData]);
  if (loaderData.isSent) {
    return (
      <main>
        <h1>Thank you</h1>
        <p role="status">Your feedback is on its way.</p>
      </main>
    );
  }
  const { values, errors = {} } = actionData ?? {};
  return (
    <main>
      <h1>Feedback</h1>
      <p>What can we do better?</p>
      <Form method="post" noValidate ref={form}>
        {errors.form && (
          <p role="alert" tabIndex={-1}>
            {errors.form}
          </p>
        )}
        <label htmlFor="text">Feedback</label>
        <textarea id="text" name="text" rows={6} defaultValue={values?.text} {...describe("text", errors.text)} />
        {errors.text && <p id="text-error">{errors.text}</p>}
        <label htmlFor="email">E-mail, if we may answer</label>
        <input
          id="email"
          name="email"
          type="email"
          autoComplete="email"
          defaultValue={values?.email}
          {...describe("email", errors.email)}
        />
        {errors.email && <p id="email-error">{errors.email}</p>}
        <button type="submit" disabled={isSending}>
          {isSending ? "Sending…" : "Send"}
        </button>
      </Form>
    </main>
  );
}

/** The attributes of a control, for screen readers. */
const describe = (name: string, error: string | undefined) => ({
  "aria-invalid": error !== undefined,
  "aria-describedby": error && `${name}-error`,
});
