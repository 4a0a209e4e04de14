import { Link } from "react-router";
import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import type { Route } from "./+types/not-found";

export const handle = { cacheKey: "/404" } satisfies Handle;

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const middleware: Route.MiddlewareFunction[] = [
  async (_, next) => {
    const response = await next();
    return new Response(response.body, { status: 404, headers: response.headers });
  },
];

export const meta = () => [{ title: "Page not found" }];

export default function NotFound() {
  return (
    <main className="screen">
      <h1>404</h1>
      <Link to="/">Home</Link>
    </main>
  );
}
