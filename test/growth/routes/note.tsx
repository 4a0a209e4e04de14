import { Suspense } from "react";
import { Await, Link } from "react-router";
import type { Route } from "./+types/note";

const NOTES = new Map([
  ["1", "Buy milk"],
  ["2", "Sow tomatoes"],
]);

export function loader({ params }: Route.LoaderArgs) {
  const text = NOTES.get(params.id);
  if (text === undefined) throw new Response(null, { status: 404 });
  // The page doesn't wait for a promise: what it gives is sent when it is there.
  return { text, readers: countReaders() };
}

async function countReaders() {
  await new Promise((resolve) => setTimeout(resolve, 500));
  return 7;
}

export const meta: Route.MetaFunction = ({ params }) => [{ title: `Note ${params.id}` }];

export default function Note({ loaderData, params }: Route.ComponentProps) {
  return (
    <main className="screen">
      <h1>{loaderData.text}</h1>
      {/* With a key of its own the next note shows at once, before its readers are counted. */}
      <Suspense key={params.id} fallback={<p>Counting readers</p>}>
        <Await resolve={loaderData.readers}>{(readers) => <p>Read by {readers}</p>}</Await>
      </Suspense>
      <Link to="/notes/2">The second note</Link>
    </main>
  );
}
