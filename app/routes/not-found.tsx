import type { Route } from "./+types/not-found";

export const handle = { renderOnce: true };

// Middleware, not a loader: a loader would cost the browser a request on every client-side arrival.
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
