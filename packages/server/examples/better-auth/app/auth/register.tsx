import { Link } from "react-router";
import type { Route } from "./+types/register";
import { MIN_PASSWORD_LENGTH } from "./auth.server";
import { authContext } from "./context";
import { Fields } from "./fields";
import { findNext, respond } from "./respond.server";

export async function action({ request, url, context }: Route.ActionArgs) {
  const form = await request.formData();
  const [name, email] = [String(form.get("name")), String(form.get("email"))];
  const password = String(form.get("password"));
  const { signUpEmail } = context.get(authContext);
  const response = await signUpEmail({ body: { name, email, password }, headers: request.headers, asResponse: true });
  return respond(response, email, findNext(url));
}

export const loader = ({ url }: Route.LoaderArgs) => ({ search: url.search, minLength: MIN_PASSWORD_LENGTH });

export const meta: Route.MetaFunction = () => [{ title: "Register" }];

export default function Register({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Register</h1>
      <Fields
        email={actionData?.email}
        error={actionData?.error}
        passwordKind="new-password"
        minLength={loaderData.minLength}
        button="Register"
      >
        <label htmlFor="name">Name</label>
        <input id="name" name="name" autoComplete="name" required />
      </Fields>
      <p>
        You have an account? <Link to={`/log-in${loaderData.search}`}>Log in</Link>
      </p>
    </main>
  );
}
