import type { MiddlewareFunction } from "react-router";
import { parseGroups } from "../http/cache-control.ts";
import { SAFE_METHODS } from "../http/same-origin.ts";
import { cacheContext } from "./context.ts";

/**
 * Invalidates the cached responses that a successful unsafe request has changed (RFC 9111 §4.4, RFC 9875 §3): those of
 * its own path, of the path that it redirects to, and of the groups in `Cache-Group-Invalidation`.
 */
export const invalidateCache: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  if (SAFE_METHODS.has(request.method)) return;
  const response = await next();
  if (response.status >= 400) return response;
  const url = new URL(request.url);
  const location = response.headers.get("Location") ?? "";
  const target = URL.canParse(location, url) ? new URL(location, url) : url;
  const paths = [url, target].filter(({ origin }) => origin === url.origin).map(({ pathname }) => pathname);
  const value = response.headers.get("Cache-Group-Invalidation");
  const groups = parseGroups(value);
  if (!groups) throw new TypeError(`Cache-Group-Invalidation: ${value} must be a list of strings`);
  await context.get(cacheContext).invalidate(groups, [...new Set(paths)]);
  return response;
};
