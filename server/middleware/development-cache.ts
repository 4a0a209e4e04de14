import type { Logger } from "pino";
import { type AnonymousResponse, type RenderOptions, renderAnonymously } from "../cache/render-anonymously.ts";
import { createWarningLog } from "../cache/warnings.ts";
import { mergeHeaders, sendStored, storeResponse } from "../http/stored-response.ts";
import type { Middleware } from "./chain.ts";

/**
 * Replaces the cache in development: renders cached routes anonymously for each request, and logs the same warnings as
 * production.
 */
export function developmentCache(
  securityHeaders: Record<string, string>,
  log: Logger,
  options: RenderOptions,
): Middleware {
  const logWarnings = createWarningLog(log);
  return (req, res, next) => {
    const { route, target, canonicalPath } = res.locals;
    if (!route?.cacheRule || (req.method !== "GET" && req.method !== "HEAD")) return next();
    const send = (rendered: AnonymousResponse) => {
      logWarnings(route.id, rendered);
      if (rendered.uncacheableReason !== undefined) return next();
      const headers = mergeHeaders(securityHeaders, rendered.headers);
      sendStored(req, res, storeResponse({ ...rendered, headers, bodies: { identity: rendered.body } }));
    };
    // If it fails, it is rendered again for this request alone, which shows the stack.
    renderAnonymously(canonicalPath + route.cacheRule.filterQuery(target.query), route, options)
      .then(send, () => next())
      .catch(next);
  };
}
