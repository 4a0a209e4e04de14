import { data, redirect } from "react-router";

/** Redirects with the cookies of a response of Better Auth, or shows its error. */
export async function respond(response: Response, email: string, target: string) {
  if (!response.ok) {
    const { message = "Please try again." } = await response.json();
    return data({ email, error: String(message) }, { status: response.status });
  }
  const headers = new Headers();
  for (const cookie of response.headers.getSetCookie()) headers.append("Set-Cookie", cookie);
  return redirect(target, { status: 303, headers });
}

/** The path that the user has asked for. A link to this page can name any URL, so it must not lead to another site. */
export function findNext(url: URL) {
  const next = url.searchParams.get("next") ?? "";
  if (!next.startsWith("/") || !URL.canParse(next, url)) return "/profile";
  const { origin, pathname, search } = new URL(next, url);
  return origin === url.origin && !pathname.startsWith("//") ? pathname + search : "/profile";
}
