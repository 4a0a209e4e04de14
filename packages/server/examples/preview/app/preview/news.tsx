import { Form } from "react-router";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/news";
import { isPreviewContext } from "./context";

/** For visitors. An editor's page is private. */
export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta: Route.MetaFunction = () => [{ title: "News" }];

// Replace it by a query of your database.
const POSTS = [
  { id: 3, title: "Open on Sundays", text: "From May on, the workshop is open on Sundays, too.", isDraft: true },
  { id: 2, title: "A new lathe", text: "It came by boat, and is older than all of us.", isDraft: false },
  { id: 1, title: "We have moved", text: "You find us behind the old mill.", isDraft: false },
];

export function loader({ context }: Route.LoaderArgs) {
  const isPreview = context.get(isPreviewContext);
  return { isPreview, posts: POSTS.filter(({ isDraft }) => isPreview || !isDraft) };
}

export default function News({ loaderData }: Route.ComponentProps) {
  const { isPreview, posts } = loaderData;
  return (
    <main>
      <h1>News</h1>
      {isPreview && (
        <Form method="post" action="/preview">
          <p>You see drafts, too.</p>
          <button type="submit" name="intent" value="leave">
            Leave the preview
          </button>
        </Form>
      )}
      {posts.map(({ id, title, text, isDraft }) => (
        <article key={id}>
          <h2>
            {title} {isDraft && <small>Draft</small>}
          </h2>
          <p>{text}</p>
        </article>
      ))}
    </main>
  );
}
