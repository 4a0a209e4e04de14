import { data, Form, redirect } from "react-router";
import type { Route } from "./+types/sign-up";

const TAKEN = "taken@example.org";

export async function action({ request }: Route.ActionArgs) {
  const email = (await request.formData()).get("email");
  // Returned, an error comes with the page that has the form; thrown, with the ErrorBoundary instead.
  if (typeof email !== "string" || !email.includes("@")) {
    return data({ error: "This is no e-mail address" }, { status: 400 });
  }
  if (email === TAKEN) throw new Response(null, { status: 409 });
  return redirect("/about", 303);
}

export const meta: Route.MetaFunction = () => [{ title: "Sign up" }];

export default function SignUp({ actionData }: Route.ComponentProps) {
  return (
    <main className="screen">
      <h1>Sign up</h1>
      <Form method="post">
        <label>
          E-mail <input name="email" aria-describedby="error" />
        </label>
        <button type="submit">Sign up</button>
        <p id="error" role="alert">
          {actionData?.error}
        </p>
      </Form>
    </main>
  );
}

export function ErrorBoundary() {
  return (
    <main className="screen">
      <h1>Somebody has signed up with this address</h1>
    </main>
  );
}
