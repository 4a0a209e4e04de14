import type { RequestHandler } from "express";
import onHeaders from "on-headers";
import { isForSharedCaches } from "../http/cache-control.ts";
import { ACTION_METHODS, READ_METHODS } from "../pages/route-entry.ts";
import { extendSecurityHeaders } from "../response/security-headers.ts";

/** A loader may return per-user data. A route's `headers` may set another value. */
const RENDERED_CACHE_CONTROL = "private, no-cache";

/**
 * Completes the headers of a response from Express as they are written: React Router's adapter would append to earlier
 * ones. Headers that the route has set stay, except the Cache-Control of a response that `isPrivate`. Listeners of
 * `on-headers` run in reverse order: `compression` first, then this one, then `loadShedding`.
 */
export function responseHeaders(securityHeaders: Record<string, string>): RequestHandler {
  return ({ method }, res, next) => {
    onHeaders(res, () => {
      const { route, nonce, isPrivate, requestId } = res.locals;
      if (isPrivate) res.removeHeader("Cache-Control");
      const sources = [`'nonce-${nonce}'`];
      const inline = nonce === undefined ? undefined : { scripts: sources, styles: sources };
      const defaults = {
        "Cache-Control": RENDERED_CACHE_CONTROL,
        ...extendSecurityHeaders(securityHeaders, route?.addedHeaders ?? {}, inline),
      };
      for (const [name, value] of Object.entries(defaults)) if (!res.hasHeader(name)) res.setHeader(name, value);
      // RFC 9110 §15.5.6. React Router sends no Allow.
      const allowed = ACTION_METHODS.includes(method) ? READ_METHODS : (route?.methods ?? READ_METHODS);
      if (res.statusCode === 405 && !res.hasHeader("Allow")) res.setHeader("Allow", allowed.join(", "));
      // A response that shared caches store has no request id.
      if (!isForSharedCaches(String(res.getHeader("Cache-Control")))) res.setHeader("X-Request-Id", requestId);
    });
    next();
  };
}
