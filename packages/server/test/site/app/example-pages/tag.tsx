import type { Handle } from "react-router-express-server/app";
import type { Route } from "./+types/tag";

// With `START=has-no-lifetime`, it sets a cache key but isn't cached.
export const handle: Handle =
  import.meta.env.SSR && process.env.START === "has-no-lifetime" ? { cacheKey: "/example-pages/tags/a" } : {};

export const meta: Route.MetaFunction = () => [{ title: "Tag" }];

export default function Tag({ params }: Route.ComponentProps) {
  return (
    <main>
      <h1>{params.tag}</h1>
    </main>
  );
}
