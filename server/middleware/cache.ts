import { name } from "../../package.json";
import type { CacheEntries, CacheEntry } from "../cache/entries.ts";
import type { Revalidate } from "../cache/revalidate.ts";
import type { Middleware } from "../chain.ts";
import { sendStored } from "../response/stored-response.ts";
import { OVERLOADED } from "../semaphore.ts";

/** Longer ones aren't cached, and never published as a path to invalidate. */
const MAX_KEY_LENGTH = 2048;

/**
 * A shared cache (RFC 9111) in front of the routes that set `s-maxage`. It renders a missing response anonymously, so
 * that nothing of one client gets into it.
 */
export function cache(entries: CacheEntries, revalidate: Revalidate): Middleware {
  return (req, res, next) => {
    const { route, target, canonicalPath } = res.locals;
    if (!route?.cacheRule || (req.method !== "GET" && req.method !== "HEAD")) return next();
    const renderPrivately = () => {
      res.locals.isPrivate = true;
      next();
    };
    const key = canonicalPath + route.cacheRule.filterQuery(target.query);
    if (key.length > MAX_KEY_LENGTH) return renderPrivately();

    const send = (entry: CacheEntry, status: string) => {
      const age = String(Math.floor(ageOf(entry)));
      sendStored(req, res, entry.response, ["Age", age, "Cache-Status", `${name}; ${status}`]);
    };
    const entry = entries.find(key);
    const { fresh, staleWhileRevalidate, staleIfError } = entry ? entries.lifetimeOf(entry) : NO_LIFETIME;
    const ttl = entry ? Math.ceil(fresh - ageOf(entry)) : Number.NEGATIVE_INFINITY;
    if (entry && ttl > -staleWhileRevalidate) {
      entries.recordLookup(ttl > 0 ? "hit" : "stale", route.pattern);
      if (ttl <= 0) revalidate(key, route).catch(() => {}); // If the server is too busy, a later request revalidates it.
      return send(entry, `hit; ttl=${ttl}`);
    }
    entries.recordLookup("miss", route.pattern);
    /** Sends the stale response, unless it has been invalidated. */
    const sendStale = () => {
      const isUsable = entry && ttl > -staleIfError && entries.find(key) === entry;
      if (isUsable) send(entry, `hit; ttl=${ttl}`);
      return Boolean(isUsable);
    };
    revalidate(key, route)
      .then((rendered) => {
        if (res.headersSent) return; // At the limit of connections, the server has closed this one.
        // An entry that is larger than the whole cache is sent, but not stored.
        const stored = entries.find(key) ? "; stored" : "";
        if (rendered) return send(rendered, `fwd=${entry ? "stale" : "uri-miss"}${stored}`);
        if (!sendStale()) renderPrivately();
      })
      .catch((error) => {
        if (error !== OVERLOADED || res.headersSent || !sendStale()) next(error);
      });
  };
}

const NO_LIFETIME = { fresh: 0, staleWhileRevalidate: 0, staleIfError: 0 };

/** In seconds. */
function ageOf({ renderedAt }: CacheEntry) {
  return (performance.now() - renderedAt) / 1000;
}
