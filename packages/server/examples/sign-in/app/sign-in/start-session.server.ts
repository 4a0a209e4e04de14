import { type RouterContextProvider, redirect } from "react-router";
import { sessionsContext } from "./context";

/** Signs a user in, and redirects to the page that the user has asked for. */
export async function startSession(email: string, url: URL, context: Readonly<RouterContextProvider>) {
  const { getSession, commitSession } = context.get(sessionsContext);
  const session = await getSession();
  session.set("email", email);
  const headers = { "Set-Cookie": await commitSession(session) };
  return redirect(findNext(url) ?? "/account", { status: 303, headers });
}

/** The path that the user has asked for. A link to this page can name any URL, so it must not lead to another site. */
function findNext(url: URL) {
  const next = url.searchParams.get("next") ?? "";
  if (!next.startsWith("/") || !URL.canParse(next, url)) return undefined;
  const { origin, pathname, search } = new URL(next, url);
  return origin === url.origin && !pathname.startsWith("//") ? pathname + search : undefined;
}
