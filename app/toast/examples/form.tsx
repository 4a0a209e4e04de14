import { useEffect } from "react";
import { type ActionFunctionArgs, Form, useActionData } from "react-router";
import { toast } from "../toast";

export const meta = () => [{ title: "Form" }];

export async function action({ request }: ActionFunctionArgs) {
  const form = await request.formData();
  return { saved: String(form.get("name")) };
}

export default function ToastForm() {
  const result = useActionData<typeof action>();
  useEffect(() => {
    if (result) toast({ title: `Saved ${result.saved}` });
  }, [result]);
  return (
    <main>
      <h1>Form</h1>
      <Form method="post">
        <label>
          Name <input name="name" required />
        </label>
        <button type="submit">Save</button>
      </Form>
      {/* Shows without scripts only. */}
      <noscript>{result && <p>Saved {result.saved}</p>}</noscript>
    </main>
  );
}
