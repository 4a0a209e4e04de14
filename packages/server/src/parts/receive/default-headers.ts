import type { Request, Response } from "express";
import { isForSharedCaches } from "../../http/cache-control.ts";
import { ACTION_METHODS, READ_METHODS } from "../../site/route-entry.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";

/** A response may have per-user data. A route's `headers` may set another value. */
const DEFAULT_CACHE_CONTROL = "private, no-cache";
/** With a cookie in the request or the response. After the sign-out, Back could show a page from the browser's cache. */
const CACHE_CONTROL_WITH_COOKIE = "private, no-store";

/**
 * Completes the headers of a response as they are written: React Router's adapter would append to earlier ones. Headers
 * that a handler has set stay, except the Cache-Control of a response that `isPrivate`. Responses from memory have all
 * of their headers. Not by `on-headers`, which takes more CPU time than all other middleware of a cached page.
 */
export function defaultHeaders(securityHeaders: SecurityHeaders) {
  return (req: Request, res: Response) => {
    const { writeHead } = res;
    res.writeHead = (...args: unknown[]) => {
      res.writeHead = writeHead;
      if (!res.locals.isStored && !res.headersSent) addHeaders(req, res, securityHeaders);
      return Reflect.apply(writeHead, res, args);
    };
  };
}

function addHeaders({ method, headers: { cookie } }: Request, res: Response, securityHeaders: SecurityHeaders) {
  const { route, nonce, isPrivate, requestId } = res.locals;
  if (isPrivate) res.removeHeader("Cache-Control");
  const sources = [`'nonce-${nonce}'`];
  // Only a page has a nonce, and a policy.
  const headers =
    nonce === undefined
      ? securityHeaders.defaults
      : securityHeaders.ofPage(route?.addedHeaders ?? {}, { scripts: sources, styles: sources });
  for (const [name, value] of Object.entries(headers)) if (!res.hasHeader(name)) res.setHeader(name, value);
  const hasCookie = cookie !== undefined || res.hasHeader("Set-Cookie");
  const cacheControl = hasCookie ? CACHE_CONTROL_WITH_COOKIE : DEFAULT_CACHE_CONTROL;
  if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", cacheControl);
  // RFC 9110 §15.5.6. React Router sends no Allow.
  const allowed = ACTION_METHODS.includes(method) ? READ_METHODS : (route?.methods ?? READ_METHODS);
  if (res.statusCode === 405 && nonce !== undefined && !res.hasHeader("Allow"))
    res.setHeader("Allow", allowed.join(", "));
  // A response that shared caches store has no request id.
  if (!isForSharedCaches(String(res.getHeader("Cache-Control")))) res.setHeader("X-Request-Id", requestId);
}
