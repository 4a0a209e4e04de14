import { Link } from "react-router";
import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import { TEXTS } from "../texts";
import type { Route } from "./+types/not-found";

// All unknown paths below /de share one cache entry.
export const handle = { cacheKey: "/de/404" } satisfies Handle;

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

// Middleware, since the browser would request a loader's data at each client-side navigation to this page.
export const middleware: Route.MiddlewareFunction[] = [
  async (_, next) => {
    const response = await next();
    return new Response(response.body, { status: 404, headers: response.headers });
  },
];

const { missing, title } = TEXTS.de;

export const meta: Route.MetaFunction = () => [{ title: missing }, { name: "robots", content: "noindex" }];

export default function NotFound() {
  return (
    <main>
      <h1>{missing}</h1>
      <p>
        <Link to="/de/visit">{title}</Link>
      </p>
    </main>
  );
}
