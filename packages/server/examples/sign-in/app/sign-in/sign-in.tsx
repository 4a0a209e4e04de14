import { data, Link } from "react-router";
import type { Route } from "./+types/sign-in";
import { accountsContext } from "./context";
import { Credentials } from "./credentials";
import { startSession } from "./start-session.server";

export async function action({ request, url, context }: Route.ActionArgs) {
  const form = await request.formData();
  const [email, password] = [String(form.get("email")), String(form.get("password"))];
  const account = await context.get(accountsContext).find(email, password);
  // The same for an unknown address, so that nobody can find out who has an account.
  if (!account) return data({ email, error: "This address and password don't match." }, { status: 400 });
  return startSession(account, url, context);
}

export const loader = ({ url }: Route.LoaderArgs) => ({ search: url.search });

export const meta: Route.MetaFunction = () => [{ title: "Sign in" }];

export default function SignIn({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Sign in</h1>
      <Credentials
        email={actionData?.email}
        error={actionData?.error}
        passwordKind="current-password"
        button="Sign in"
      />
      <p>
        New here? <Link to={`/sign-up${loaderData.search}`}>Create an account</Link>
      </p>
    </main>
  );
}
