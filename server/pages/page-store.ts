import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { compress } from "../http/content-coding.ts";
import { type Bodies, copyBytes, mergeHeaders, storeResponse } from "../http/stored-response.ts";
import { limitRate } from "../limit-rate.ts";
import type { Semaphore } from "../semaphore.ts";
import { findFile, routes } from "./build.ts";
import { copyString } from "./copy-string.ts";
import { renderDocuments } from "./documents.ts";
import { createDrawbackLog } from "./drawbacks.ts";
import { type RenderedPage, type RenderOptions, renderPage } from "./render-page.ts";
import { isDynamic, type KeepingRule } from "./route-entry.ts";
import { toPagePath } from "./route-table.ts";
import { createStoredPages, type StoredPage, type StoreMetrics } from "./stored-pages.ts";

type RenderResult = "kept" | "not_kept" | "failed";

export type PageStoreOptions = RenderOptions & {
  maxBytes: number;
  /** Admits renders. */
  requests: Semaphore;
  securityHeaders: Record<string, string>;
  log: Logger;
  metrics: StoreMetrics & { recordRender: (result: RenderResult) => void };
};

/** After a render that gave nothing to keep, the next for its address waits this long. */
const RETRY_INTERVAL_MS = 5000;
/** The cache keys of such renders, in bytes. */
const MAX_FAILURES_SIZE = 256 * 1024;
/** Lines per second. */
const MAX_FAILURES_LOGGED = 1;

/**
 * Stores cached pages by cache key (canonical path and query). Renders the pages whose path has no parameters before it
 * resolves. Rejects when a page that is rendered once fails.
 */
export async function createPageStore({
  maxBytes,
  requests,
  securityHeaders,
  log,
  metrics,
  ...renderOptions
}: PageStoreOptions) {
  const { find, put, remove, keys } = createStoredPages(maxBytes, metrics);
  /** When the last render of an address gave nothing to keep. */
  const failures = new LRUCache<string, number>({
    maxSize: MAX_FAILURES_SIZE,
    sizeCalculation: (_time, { length }) => length + 100,
  });
  const logFailure = limitRate(MAX_FAILURES_LOGGED, (err: unknown, file?: string) =>
    log.error({ err, file }, "page not rendered"),
  );
  const renders = new Map<string, Promise<StoredPage | undefined>>();
  const logDrawbacks = createDrawbackLog(log);

  let compressed: Promise<unknown> = Promise.resolve();
  /** Compresses one page after the other, since each encoder takes memory. */
  async function toBodies(identity: Buffer, effort: "best" | "fast") {
    const compressing = compressed.then(() => compress(identity, effort));
    compressed = compressing.catch(() => {});
    const bodies = Object.entries({ ...(await compressing), identity });
    return Object.fromEntries(bodies.map(([coding, bytes]) => [coding, copyBytes(bytes)])) as Bodies;
  }

  async function keep(kept: KeepingRule, address: string, rendered: RenderedPage, effort: "best" | "fast") {
    const { body } = rendered;
    const headers = mergeHeaders(securityHeaders, rendered.headers, { "Cache-Control": kept.cacheControl });
    const before = find(address)?.bodies;
    const bodies = before?.identity.equals(body) ? before : await toBodies(body, effort);
    const response = storeResponse({ ...rendered, headers, bodies });
    return put(address, { response, bodies, renderedAt: performance.now() });
  }

  async function render(kept: KeepingRule, address: string, effort: "best" | "fast" = "fast") {
    const release = await requests.acquire();
    try {
      const rendered = await renderPage(address, renderOptions);
      logDrawbacks(kept.routeId, rendered);
      if (rendered.obstacle === undefined) {
        failures.delete(address);
        const page = await keep(kept, address, rendered, effort);
        metrics.recordRender("kept");
        return page;
      }
      metrics.recordRender("not_kept");
      remove(address); // It is no failure to bridge: the page has become a client's own, or has gone.
    } catch (err) {
      metrics.recordRender("failed");
      if (!failures.has(address)) logFailure(err, findFile(kept.routeId));
    } finally {
      release();
    }
    failures.set(address, performance.now());
    return undefined;
  }

  const pages = routes.filter(({ pattern }) => !isDynamic(pattern));
  // Together: while one is compressed in another thread, the next is rendered.
  const [documents] = await Promise.all([
    renderDocuments({ ...renderOptions, securityHeaders, log }),
    ...pages.map(({ kept, pattern }) => kept && render(kept, pattern, "best")),
  ]);

  return {
    /** The document of a route that is rendered once. */
    findDocument: (routeId: string) => documents.get(routeId),
    find,
    /**
     * Renders a page once for all requests that come meanwhile. Resolves with undefined if it failed or isn't cacheable.
     * Rejects with a 503 while the server is too busy.
     */
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
      keys().filter(isOfPage).forEach(remove);
      for (const [address, rendering] of renders) {
        if (!isOfPage(address)) continue;
        renders.delete(address);
        rendering.then(() => remove(address)).catch(() => {});
      }
    },
  };
}

export type PageStore = Awaited<ReturnType<typeof createPageStore>>;
