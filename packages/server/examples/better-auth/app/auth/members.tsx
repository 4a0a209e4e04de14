import { Outlet, redirect } from "react-router";
import type { Route } from "./+types/members";
import { authContext, sessionContext } from "./context";

/** The path that the site is below, such as /app, or "". React Router adds it to the redirects of loaders and actions. */
const { BASENAME = "" } = import.meta.env;

// Not in the layout's loader: the loaders of the pages inside run at the same time. Middleware runs before all of them.
export const middleware: Route.MiddlewareFunction[] = [
  async ({ request, url, context }, next) => {
    const { getSession } = context.get(authContext);
    const { response: session, headers } = await getSession({ headers: request.headers, returnHeaders: true });
    const target = new URLSearchParams({ next: url.pathname.slice(BASENAME.length) + url.search });
    if (!session) throw redirect(`${BASENAME}/log-in?${target}`);
    context.set(sessionContext, session);
    const response = await next();
    // The session of a user who comes back is extended each day.
    for (const cookie of headers.getSetCookie()) response.headers.append("Set-Cookie", cookie);
    return response;
  },
];

// With a loader here, the browser sends a request, so the middleware also runs for pages without a loader.
export const loader = () => null;

/** Around all pages for signed-in users. */
export default function Members() {
  return <Outlet />;
}
