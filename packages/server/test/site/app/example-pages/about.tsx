import type { Route } from "./+types/about";

// The page is the same for everyone: it is sent from memory, and rendered again once a minute at most.
export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400",
  "No-Vary-Search": "params",
});

export const meta: Route.MetaFunction = () => [{ title: "About" }];

export default function About() {
  return (
    <main>
      <h1>About</h1>
      <p>Since 2026</p>
    </main>
  );
}
