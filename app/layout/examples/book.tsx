import { type ComponentProps, useEffect, useRef } from "react";
import { type ActionFunctionArgs, data, Form, useActionData } from "react-router";

export const meta = () => [{ title: "Book a place" }];

export async function action({ request }: ActionFunctionArgs) {
  const form = await request.formData();
  const read = (name: string) => String(form.get(name) ?? "").trim();
  const values = { name: read("name"), email: read("email"), walk: read("walk"), message: read("message") };
  const errors = {
    name: values.name ? undefined : "Enter your name.",
    email: values.email.includes("@") ? undefined : "Enter an address, such as ada@example.org.",
    rules: form.has("rules") ? undefined : "Agree to the rules before you book.",
  };
  const isRejected = Object.values(errors).some(Boolean);
  return data({ values, errors, isRejected }, { status: isRejected ? 400 : 200 });
}

export default function Book() {
  const result = useActionData<typeof action>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (result?.isRejected) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [result]);
  if (result && !result.isRejected) {
    return (
      <main>
        <h1>See you at dawn</h1>
        <output>{result.values.name}, your place is booked.</output>
      </main>
    );
  }
  const { values, errors } = result ?? {};
  return (
    <main>
      <h1>Book a place</h1>
      <p>We answer within a day.</p>
      {/* The browser doesn't validate, so that all errors show at once, and in the same way without scripts. */}
      <Form method="post" noValidate ref={form}>
        <Field label="Name" name="name" autoComplete="name" defaultValue={values?.name} error={errors?.name} />
        <Field
          label="E-mail"
          name="email"
          type="email"
          autoComplete="email"
          defaultValue={values?.email}
          error={errors?.email}
        />
        <label htmlFor="walk">Walk</label>
        <select id="walk" name="walk" defaultValue={values?.walk}>
          <option>20 March</option>
          <option>19 June</option>
          <option>21 August</option>
        </select>
        <label htmlFor="message">Message</label>
        <textarea id="message" name="message" rows={3} defaultValue={values?.message} />
        <label>
          <input type="checkbox" name="rules" {...describe("rules", errors?.rules)} />I agree to the rules
        </label>
        <ErrorText name="rules" error={errors?.rules} />
        <button type="submit">Book</button>
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
  "aria-invalid": Boolean(error),
  "aria-describedby": error && `${name}-error`,
});

function ErrorText({ name, error }: { name: string; error: string | undefined }) {
  return error && <p id={`${name}-error`}>{error}</p>;
}
