import { Form } from "react-router";
import type { Route } from "./+types/profile";
import { sessionContext } from "./context";

export function loader({ context }: Route.LoaderArgs) {
  const { name, email } = context.get(sessionContext).user;
  return { name, email };
}

export const meta: Route.MetaFunction = () => [{ title: "Your profile" }];

export default function Profile({ loaderData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Your profile</h1>
      <p>
        You are {loaderData.name}, {loaderData.email}.
      </p>
      {/* A new document, so that what scripts keep in memory is gone. */}
      <Form method="post" action="/log-out" reloadDocument>
        <button type="submit">Log out</button>
      </Form>
    </main>
  );
}
