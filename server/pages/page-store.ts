import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { compress } from "../http/content-coding.ts";
import { type Bodies, mergeHeaders, storeResponse } from "../http/stored-response.ts";
import { findFile, routes } from "./build.ts";
import { copyString } from "./copy-string.ts";
import { renderDocuments } from "./documents.ts";
import { createDrawbackLog } from "./drawbacks.ts";
import { type RenderedPage, type RenderOptions, renderPage } from "./render-page.ts";
import { isDynamic, type KeepingRule } from "./route-entry.ts";
import { toPagePath } from "./route-table.ts";
import { createStoredPages, type StoredPage } from "./stored-pages.ts";

type RenderResult = "kept" | "not_kept" | "failed";

export type PageStoreOptions = RenderOptions & {
  /** How many pages there may be, and how many bytes they may take. */
  maxPages: number;
  maxBytes: number;
  securityHeaders: Record<string, string>;
  log: Logger;
  metrics: {
    recordRender: (result: RenderResult) => void;
    recordStored: (pages: number, bytes: number) => void;
  };
};

/** After a render that gave nothing to keep, the next for its address waits this long. */
const RETRY_INTERVAL_MS = 5000;
const MAX_FAILURES = 1000;
/** In seconds: what is kept for so long is worth the best compression. */
const LONG_LIFETIME = 3600;

/**
 * Keeps the pages that are the same for everybody, by address (path and query). What has one address, or one document
 * for all, is rendered before it resolves; rejects when a page that is rendered once fails.
 */
export async function createPageStore({
  maxPages,
  maxBytes,
  securityHeaders,
  log,
  metrics,
  ...renderOptions
}: PageStoreOptions) {
  const { find, put, remove, addresses } = createStoredPages({
    maxPages,
    maxBytes,
    recordStored: metrics.recordStored,
  });
  /** When the last render of an address gave nothing to keep. */
  const failures = new LRUCache<string, number>({ max: MAX_FAILURES });
  const renders = new Map<string, Promise<StoredPage | undefined>>();
  const logDrawbacks = createDrawbackLog(log);

  let turn: Promise<unknown> = Promise.resolve();
  /** Renders begin one per turn of the event loop, so that requests which need none are handled in between. */
  const waitForTurn = () => {
    turn = turn.then(() => setImmediate());
    return turn;
  };

  async function keep(kept: KeepingRule, address: string, rendered: RenderedPage, waitsForCompression: boolean) {
    const { body } = rendered;
    const headers = mergeHeaders(securityHeaders, rendered.headers, { "Cache-Control": kept.cacheControl });
    const renderedAt = performance.now();
    const keepAs = (bodies: Bodies) =>
      put(address, { response: storeResponse({ ...rendered, headers, bodies }), bodies, renderedAt });
    const before = find(address)?.bodies;
    if (before?.br && before.identity.equals(body)) return keepAs(before);
    const isWorthIt = waitsForCompression || kept.lifetime.fresh >= LONG_LIFETIME;
    const compressing = compress(body, isWorthIt ? "best" : "fast");
    if (waitsForCompression) return keepAs({ ...(await compressing), identity: body });
    const page = keepAs({ identity: body });
    compressing.then(
      (compressed) => find(address) === page && keepAs({ ...compressed, identity: body }),
      (err) => log.error({ err, address }, "page not compressed"), // It is sent as it is.
    );
    return page;
  }

  async function render(kept: KeepingRule, address: string, waitsForCompression = false) {
    try {
      await waitForTurn();
      const rendered = await renderPage(address, renderOptions);
      logDrawbacks(kept.routeId, rendered);
      metrics.recordRender(rendered.obstacle === undefined ? "kept" : "not_kept");
      if (rendered.obstacle === undefined) {
        failures.delete(address);
        return await keep(kept, address, rendered, waitsForCompression);
      }
      remove(address); // It is no failure to bridge: the page has become a client's own, or has gone.
    } catch (err) {
      metrics.recordRender("failed");
      if (!failures.has(address)) log.error({ err, file: findFile(kept.routeId) }, "page not rendered");
    }
    failures.set(address, performance.now());
    return undefined;
  }

  const pages = routes.filter(({ pattern }) => !isDynamic(pattern));
  // Together: while one is compressed in another thread, the next is rendered.
  const [documents] = await Promise.all([
    renderDocuments({ ...renderOptions, securityHeaders, log }),
    ...pages.map(({ kept, pattern }) => kept && render(kept, pattern, true)),
  ]);

  return {
    /** The document of a route that is rendered once. */
    findDocument: (routeId: string) => documents.get(routeId),
    find,
    /** Renders an address once for all who ask meanwhile. Resolves with nothing if it failed or can't be kept. */
    async refresh(kept: KeepingRule, address: string) {
      if (performance.now() - (failures.get(address) ?? Number.NEGATIVE_INFINITY) < RETRY_INTERVAL_MS) return undefined;
      const rendering =
        renders.get(address) ?? render(kept, copyString(address)).finally(() => renders.delete(address));
      renders.set(address, rendering);
      return rendering;
    },
    /** Removes what is kept, or just being rendered, of a page and its data, whatever the query. */
    invalidate(path: string) {
      const isOfPage = (address: string) => toPagePath(address.replace(/\?.*/s, "")) === toPagePath(path);
      addresses().filter(isOfPage).forEach(remove);
      for (const [address, rendering] of renders) {
        if (!isOfPage(address)) continue;
        renders.delete(address);
        rendering.then(() => remove(address));
      }
    },
  };
}

export type PageStore = Awaited<ReturnType<typeof createPageStore>>;
