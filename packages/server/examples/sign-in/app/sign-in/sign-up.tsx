import { data, Link } from "react-router";
import type { Route } from "./+types/sign-up";
import { accountsContext } from "./context";
import { Credentials } from "./credentials";
import { startSession } from "./start-session.server";

const MIN_LENGTH = 12;

export async function action({ request, url, context }: Route.ActionArgs) {
  const form = await request.formData();
  const [email, password] = [String(form.get("email")), String(form.get("password"))];
  const reject = (error: string, status = 400) => data({ email, error }, { status });
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) return reject("Enter an address, such as ada@example.org.");
  if (password.length < MIN_LENGTH) return reject(`Choose a password of ${MIN_LENGTH} characters or more.`);
  const account = await context.get(accountsContext).create(email, password);
  if (!account) return reject("This address has an account. Sign in instead.", 409);
  return startSession(account, url, context);
}

export const loader = ({ url }: Route.LoaderArgs) => ({ search: url.search });

export const meta: Route.MetaFunction = () => [{ title: "Create an account" }];

export default function SignUp({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Create an account</h1>
      <Credentials
        email={actionData?.email}
        error={actionData?.error}
        passwordKind="new-password"
        hint={`${MIN_LENGTH} characters or more, such as four words`}
        button="Create account"
      />
      <p>
        You have one? <Link to={`/sign-in${loaderData.search}`}>Sign in</Link>
      </p>
    </main>
  );
}
