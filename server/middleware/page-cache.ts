import onHeaders from "on-headers";
import { name } from "../../package.json";
import { sendStored } from "../http/stored-response.ts";
import type { PageStore } from "../pages/page-store.ts";
import type { StoredPage } from "../pages/stored-pages.ts";
import { OVERLOADED } from "../semaphore.ts";
import type { Middleware } from "./chain.ts";

export type CacheResult = "hit" | "stale" | "miss";

/**
 * Sends the pages that are the same for everybody from memory: a shared cache (RFC 9111) that, unlike one in front of
 * the server, has pages rendered without anything of the client who asks.
 */
export function pageCache(store: PageStore, recordLookup: (result: CacheResult, route: string) => void): Middleware {
  return (req, res, next) => {
    const { route, target, canonicalPath } = res.locals;
    if (!route) return next();
    if (req.method !== "GET" && req.method !== "HEAD") {
      // What an action has done shows on its page (RFC 9111 §4.4).
      onHeaders(res, () => {
        if (route.kept && res.statusCode < 400) store.invalidate(canonicalPath);
      });
      return next();
    }
    const document = route.isRenderedOnce ? store.findDocument(route.id) : undefined;
    if (document) return sendStored(req, res, document);
    const { kept } = route;
    if (!kept) return next();

    const address = canonicalPath + kept.filterQuery(target.query);
    const send = (page: StoredPage, status: string) => {
      const age = String(Math.floor(ageOf(page)));
      sendStored(req, res, page.response, ["Age", age, "Cache-Status", `${name}; ${status}`]);
    };
    const page = store.find(address);
    const { fresh, staleWhileRevalidate, staleIfError } = kept.lifetime;
    const ttl = page ? Math.ceil(fresh - ageOf(page)) : Number.NEGATIVE_INFINITY;
    if (page && ttl > -staleWhileRevalidate) {
      recordLookup(ttl > 0 ? "hit" : "stale", route.pattern);
      if (ttl <= 0) store.refresh(kept, address).catch(() => {}); // A server that is too busy renders it later.
      return send(page, `hit; ttl=${ttl}`);
    }
    recordLookup("miss", route.pattern);
    // A page that can't be kept any more is none to fall back on.
    const sendStale = () => {
      const canSend = page && ttl > -staleIfError && store.find(address);
      if (canSend) send(page, `hit; ttl=${ttl}`);
      return Boolean(canSend);
    };
    store
      .refresh(kept, address)
      .then((rendered) => {
        // One that is larger than the memory for all is sent, and not stored.
        const stored = store.find(address) === undefined ? "" : "; stored";
        if (rendered) return send(rendered, `fwd=${page ? "stale" : "uri-miss"}${stored}`);
        if (sendStale()) return;
        res.locals.isPrivate = true;
        next();
      })
      .catch((error) => {
        if (error !== OVERLOADED || !sendStale()) next(error);
      });
  };
}

/** In seconds. */
function ageOf({ renderedAt }: StoredPage) {
  return (performance.now() - renderedAt) / 1000;
}
