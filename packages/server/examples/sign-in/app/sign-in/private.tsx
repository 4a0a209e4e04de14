import { Outlet, redirect } from "react-router";
import type { Route } from "./+types/private";
import { emailContext, sessionsContext } from "./context";

/** The path that the site is below, such as /app, or "". React Router adds it to the redirects of loaders and actions. */
const { BASENAME = "" } = import.meta.env;

// Not in the layout's loader: the loaders of the pages inside run at the same time. Middleware runs before all of them.
export const middleware: Route.MiddlewareFunction[] = [
  async ({ request, url, context }) => {
    const session = await context.get(sessionsContext).getSession(request.headers.get("Cookie"));
    const email = session.get("email");
    const next = new URLSearchParams({ next: url.pathname.slice(BASENAME.length) + url.search });
    if (!email) throw redirect(`${BASENAME}/sign-in?${next}`);
    context.set(emailContext, email);
  },
];

// With a loader here, the browser sends a request, so the middleware also runs for pages without a loader.
export const loader = () => null;

/** Around all pages for signed-in users. */
export default function Private() {
  return <Outlet />;
}
