import type { RequestHandler } from "express";
import { sendStored, setCacheControl } from "../../http/stored-response.ts";
import { checkReceived } from "../check-received.ts";
import type { CacheEntries, CacheEntry } from "./memory.ts";
import type { Revalidation } from "./revalidate.ts";

const S_MAXAGE = /\bs-maxage="?\d+"?/i;
/** Pages with longer cache keys aren't cached. */
const MAX_KEY_LENGTH = 2048;

/**
 * A shared cache (RFC 9111) in front of the routes that set `s-maxage`. It renders a missing response anonymously, so
 * that no client's data gets into it. `Cache-Status` names it by `name` (RFC 9211).
 */
export function pageCache(
  name: string,
  entries: CacheEntries,
  { revalidate, isFailing, refresh }: Pick<Revalidation, "revalidate" | "isFailing" | "refresh">,
  tagHeadersOf: (key: string, groups: string[]) => string[] = () => [],
): RequestHandler {
  return (req, res, next) => {
    checkReceived(res, "pageCache");
    const { route, target, canonicalPath } = res.locals;
    if (!route?.cacheRule || (req.method !== "GET" && req.method !== "HEAD")) return next();
    const { filterQuery, variants } = route.cacheRule;
    const variant = variants ? `#${variants.choose(req.headers)}` : "";
    const key = canonicalPath + filterQuery(target.query) + variant;
    if (key.length > MAX_KEY_LENGTH) return next();

    const send = (entry: CacheEntry, status: string) => {
      if (variants && !variants.isForSharedCaches(req)) setCacheControl(req, res, "private, no-cache");
      const age = ageOf(entry);
      const { fresh } = entries.lifetimeOf(entry);
      // Caches in front may store a response that is stale, or may miss invalidations, for 1 s. It has no Age, since
      // Varnish would count it as expired.
      const freshness =
        age < fresh && fresh === entry.lifetime.fresh
          ? ["Cache-Control", entry.cacheControl, "Age", String(Math.floor(age)), ...(entry.sharedLifetimes ?? [])]
          : ["Cache-Control", entry.cacheControl.replace(S_MAXAGE, "s-maxage=1")];
      sendStored(req, res, entry.response, [
        ...freshness,
        ...tagHeadersOf(key, entry.groups),
        "Cache-Status",
        `${name}; ${status}`,
      ]);
    };
    const respond = (isRefreshed: boolean) => {
      const entry = entries.find(key);
      const { fresh, staleWhileRevalidate, staleIfError } = entry ? entries.lifetimeOf(entry) : NO_LIFETIME;
      const ttl = entry ? Math.ceil(fresh - ageOf(entry)) : Number.NEGATIVE_INFINITY;
      const refreshing = ttl > 0 || isRefreshed ? undefined : refresh(key, route);
      if (refreshing) {
        refreshing.then(() => !res.headersSent && !res.closed && respond(true)).catch(next);
        return;
      }
      // While its renders fail, no client waits for the next one.
      if (entry && (ttl > -staleWhileRevalidate || (ttl > -staleIfError && isFailing(key)))) {
        entries.recordLookup(ttl > 0 ? "hit" : "stale", route.pattern);
        // If the server is too busy, a later request revalidates it.
        if (ttl <= 0) revalidate(key, route).catch(() => {});
        return send(entry, `hit; ttl=${ttl}`);
      }
      /** Sends the stale response, unless it has been invalidated. */
      const sendStale = () => {
        const isUsable = entry && ttl > -staleIfError && entries.find(key) === entry;
        entries.recordLookup(isUsable ? "stale" : "miss", route.pattern);
        if (isUsable) send(entry, `hit; ttl=${ttl}`);
        return Boolean(isUsable);
      };
      revalidate(key, route, res)
        .then((rendered) => {
          if (res.headersSent) return; // The client got a 503 meanwhile, at MAX_CONNECTIONS.
          // A second render, so that this client gets its own page, or the error page.
          if (!rendered) return sendStale() || next();
          entries.recordLookup("miss", route.pattern);
          // An entry that is larger than the whole cache is sent, but not stored.
          const stored = entries.find(key) ? "; stored" : "";
          send(rendered, `fwd=${entry ? "stale" : "uri-miss"}${stored}`);
        })
        .catch((error) => {
          if (error.status !== 503 || res.headersSent || !sendStale()) next(error);
        });
    };
    respond(false);
  };
}

const NO_LIFETIME = { fresh: 0, staleWhileRevalidate: 0, staleIfError: 0 };

/** In seconds. */
function ageOf({ renderedAt }: CacheEntry) {
  return (performance.now() - renderedAt) / 1000;
}
