import { Form, redirect, useLocation } from "react-router";
import type { Route } from "./+types/name";

export function loader({ url }: Route.LoaderArgs) {
  const to = url.searchParams.get("to");
  return to === null ? null : redirect(`/example-pages/names/${to}`);
}

export async function action({ request }: Route.ActionArgs) {
  const form = await request.formData();
  return redirect(`/example-pages/names/${form.get("name")}`);
}

export const meta: Route.MetaFunction = ({ params }) => [{ title: params.name }];

export default function Name({ params }: Route.ComponentProps) {
  const { pathname } = useLocation();
  return (
    <main>
      <h1>{params.name}</h1>
      <p>{pathname}</p>
      <Form method="post">
        <input name="name" aria-label="Name" />
        <button type="submit">Rename</button>
      </Form>
    </main>
  );
}
