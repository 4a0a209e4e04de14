import { Form, redirect } from "react-router";
import { cacheContext } from "react-router-express-server/app";
import type { Route } from "./+types/edit-event";
import { events } from "./event-list";

export async function action({ params: { id }, request, context }: Route.ActionArgs) {
  const title = String((await request.formData()).get("title"));
  events.set(id, title);
  await context.get(cacheContext).invalidate(["events", `event-${id}`]);
  return redirect(`/example-pages/events/${id}`);
}

export const meta: Route.MetaFunction = () => [{ title: "Edit the event" }];

export default function EditEvent() {
  return (
    <main>
      <h1>Edit the event</h1>
      <Form method="post">
        <label>
          Title <input name="title" required />
        </label>
        <button type="submit">Save</button>
      </Form>
    </main>
  );
}
