import { parseList } from "structured-headers";
import type { Route } from "./+types/root";
import { cacheContext } from "./context";

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Invalidates the cached responses that a successful unsafe request has changed (RFC 9111 §4.4, RFC 9875 §3): those of
 * its own path, of the path that it redirects to, and of the groups in `Cache-Group-Invalidation`.
 */
export const invalidateCache: Route.MiddlewareFunction = async ({ request, context }, next) => {
  if (SAFE_METHODS.includes(request.method)) return;
  const response = await next();
  if (response.status >= 400) return response;
  const url = new URL(request.url);
  const location = response.headers.get("Location") ?? "";
  const target = URL.canParse(location, url) ? new URL(location, url) : url;
  const paths = [url, target].filter(({ origin }) => origin === url.origin).map(({ pathname }) => pathname);
  await context.get(cacheContext).invalidate(parseGroups(response.headers), [...new Set(paths)]);
  return response;
};

/** Throws if the header isn't a list of strings. */
function parseGroups(headers: Headers) {
  const value = headers.get("Cache-Group-Invalidation") ?? "";
  return parseList(value).map(([group]) => {
    if (typeof group !== "string") throw new TypeError(`Cache-Group-Invalidation: ${value} must be a list of strings`);
    return group;
  });
}
