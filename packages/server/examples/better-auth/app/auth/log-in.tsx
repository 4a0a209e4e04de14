import { Link } from "react-router";
import type { Route } from "./+types/log-in";
import { authContext } from "./context";
import { Fields } from "./fields";
import { findNext, respond } from "./respond.server";

export async function action({ request, url, context }: Route.ActionArgs) {
  const form = await request.formData();
  const [email, password] = [String(form.get("email")), String(form.get("password"))];
  const { signInEmail } = context.get(authContext);
  const response = await signInEmail({ body: { email, password }, headers: request.headers, asResponse: true });
  return respond(response, email, findNext(url));
}

export const loader = ({ url }: Route.LoaderArgs) => ({ search: url.search });

export const meta: Route.MetaFunction = () => [{ title: "Log in" }];

export default function LogIn({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Log in</h1>
      <Fields email={actionData?.email} error={actionData?.error} passwordKind="current-password" button="Log in" />
      <p>
        New here? <Link to={`/register${loaderData.search}`}>Register</Link>
      </p>
    </main>
  );
}
