import { Suspense } from "react";
import { Await } from "react-router";
import type { Route } from "./+types/broken";

/** Fails in every way that a page can. */
export function loader({ params }: Route.LoaderArgs) {
  if (params.how === "not-found") throw new Response(null, { status: 404 });
  if (params.how === "response") throw new Response(null, { status: 500 });
  if (params.how === "loader") throw new Error("secret of the loader");
  return { later: fail(params.how === "later") };
}

async function fail(fails: boolean) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  if (fails) throw new Error("secret of the promise");
}

export default function Broken({ params, loaderData }: Route.ComponentProps) {
  if (params.how === "component") throw new Error("secret of the component");
  return (
    <Suspense fallback="Soon">
      <Await resolve={loaderData.later}>Not broken</Await>
    </Suspense>
  );
}
