import { Form } from "react-router";
import type { Route } from "./+types/account";
import { emailContext } from "./context";

export const loader = ({ context }: Route.LoaderArgs) => ({ email: context.get(emailContext) });

export const meta: Route.MetaFunction = () => [{ title: "Your account" }];

export default function Account({ loaderData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Your account</h1>
      <p>You are signed in as {loaderData.email}.</p>
      {/* A new document, so that what scripts keep in memory is gone. */}
      <Form method="post" action="/sign-out" reloadDocument>
        <button type="submit">Sign out</button>
      </Form>
    </main>
  );
}
