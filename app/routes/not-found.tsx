import { useEffect } from "react";
import { Link, useLocation } from "react-router";
import type { Route } from "./+types/not-found";

export const handle = { renderOnce: true };

// Middleware, not a loader: a loader would cost the browser a request on every client-side arrival.
export const middleware: Route.MiddlewareFunction[] = [
  async (_, next) => {
    const response = await next();
    return new Response(response.body, { status: 404, headers: response.headers });
  },
];

export const meta: Route.MetaFunction = () => [{ title: "Page not found" }];

export default function NotFound() {
  const location = useLocation();
  useEffect(() => {
    // An argument of its own: in the format string, "%c" of a path would be taken for a directive.
    console.error("Page not found:", location.pathname);
  }, [location]);
  return (
    <main>
      <h1>404</h1>
      <p>Oops! Page not found</p>
      <Link to="/" prefetch="render">
        Return to Home
      </Link>
    </main>
  );
}
