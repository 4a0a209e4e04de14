import { data, Form, redirect } from "react-router";
import type { Route } from "./+types/preview";
import { previewContext } from "./context";

export async function action({ request, context }: Route.ActionArgs) {
  const { isSecret, start, end } = context.get(previewContext);
  const form = await request.formData();
  const leave = form.get("intent") === "leave";
  if (!leave && !isSecret(String(form.get("secret")))) {
    return data({ error: "This isn't the secret." }, { status: 400 });
  }
  return redirect("/news", { status: 303, headers: { "Set-Cookie": await (leave ? end() : start()) } });
}

export const meta: Route.MetaFunction = () => [{ title: "Preview" }, { name: "robots", content: "noindex" }];

export default function Preview({ actionData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Preview</h1>
      <p>Editors see drafts in the pages of the site.</p>
      <Form method="post">
        <p role="alert">{actionData?.error}</p>
        <label htmlFor="secret">Secret</label>
        <input id="secret" name="secret" type="password" autoComplete="current-password" required />
        <div>
          <button type="submit">See drafts</button>
        </div>
      </Form>
    </main>
  );
}
