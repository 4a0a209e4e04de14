import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import type { Route } from "./+types/not-found";

// All unknown paths share one cache entry, so scanners cause no renders.
export const handle = { cacheKey: "/404" } satisfies Handle;

export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": CACHED_FOR_A_MINUTE,
});

// Middleware, since the browser would request a loader's data at each client-side navigation to this page.
export const middleware: Route.MiddlewareFunction[] = [
  async (_, next) => {
    const response = await next();
    return new Response(response.body, { status: 404, headers: response.headers });
  },
];

const TITLE = "Page not found";

export const meta: Route.MetaFunction = () => [
  { title: TITLE },
  { name: "description", content: "There is no page at this address." },
  { name: "robots", content: "noindex" },
  { property: "og:title", content: TITLE },
  { property: "og:type", content: "website" },
];

export { NotFoundPage as default } from "../components/message-page";
