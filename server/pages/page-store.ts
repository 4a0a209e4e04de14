import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { compress } from "../http/content-coding.ts";
import { type Bodies, mergeHeaders, type StoredResponse, storeResponse } from "../http/stored-response.ts";
import { findFile, routes } from "./build.ts";
import { copyString } from "./copy-string.ts";
import { renderDocuments } from "./documents.ts";
import { findDrawbacks, type RenderedPage, type RenderOptions, renderPage } from "./render-page.ts";
import { isDynamic, type KeptPage } from "./route-entry.ts";

/** A page in memory, and when it was rendered, on the clock of `performance.now()`. */
export type StoredPage = { response: StoredResponse; bodies: Bodies; renderedAt: number };

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

/** Pages that are not found have a part of the store to themselves: however many are asked for, no other has to go. */
const NOT_FOUND_SHARE = 1 / 8;
/** What a page takes beside its content and its address: header lists, the maps. */
const PAGE_BYTES = 4096;
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
  const createCache = (share: number) =>
    new LRUCache<string, StoredPage>({
      max: Math.ceil(maxPages * share),
      maxSize: Math.ceil(maxBytes * share),
      sizeCalculation: ({ bodies }, address) =>
        Object.values(bodies).reduce((sum, { length }) => sum + length, PAGE_BYTES + address.length),
    });
  const found = createCache(1 - NOT_FOUND_SHARE);
  const notFound = createCache(NOT_FOUND_SHARE);
  /** When the last render of an address gave nothing to keep. */
  const failures = new LRUCache<string, number>({ max: MAX_FAILURES });
  const renders = new Map<string, Promise<StoredPage | undefined>>();
  const warned = new Set<string>();

  const find = (address: string) => found.get(address) ?? notFound.get(address);

  let turn: Promise<unknown> = Promise.resolve();
  /** Renders begin one per turn of the event loop, so that requests which need none are handled in between. */
  const waitForTurn = () => {
    turn = turn.then(() => setImmediate());
    return turn;
  };

  async function keep(kept: KeptPage, address: string, rendered: RenderedPage, waitsForCompression: boolean) {
    const { status, body } = rendered;
    const headers = mergeHeaders(securityHeaders, rendered.headers, { "Cache-Control": kept.cacheControl });
    const renderedAt = performance.now();
    const put = (bodies: Bodies) => {
      const response = storeResponse({ ...rendered, headers, bodies });
      const page = { response, bodies, renderedAt };
      const [cache, other] = status === 404 ? [notFound, found] : [found, notFound];
      other.delete(address);
      cache.set(address, page);
      metrics.recordStored(found.size + notFound.size, found.calculatedSize + notFound.calculatedSize);
      return page;
    };
    const before = find(address)?.bodies;
    if (before?.br && before.identity.equals(body)) return put(before);
    const isWorthIt = waitsForCompression || kept.lifetime.fresh >= LONG_LIFETIME;
    const compressing = compress(body, isWorthIt ? "best" : "fast");
    if (waitsForCompression) return put({ ...(await compressing), identity: body });
    const page = put({ identity: body });
    compressing.then(
      (compressed) => find(address) === page && put({ ...compressed, identity: body }),
      (err) => log.error({ err, address }, "page not compressed"), // It is sent as it is.
    );
    return page;
  }

  const warn = ({ routeId }: KeptPage, reason: string) => {
    if (!warned.has(routeId + reason))
      log.warn({ file: findFile(routeId), reason }, "page that is the same for everybody");
    warned.add(routeId + reason);
  };

  async function render(kept: KeptPage, address: string, waitsForCompression = false) {
    try {
      await waitForTurn();
      const rendered = await renderPage(address, renderOptions);
      for (const reason of findDrawbacks(rendered)) warn(kept, reason);
      metrics.recordRender(rendered.obstacle === undefined ? "kept" : "not_kept");
      if (rendered.obstacle === undefined) {
        failures.delete(address);
        return await keep(kept, address, rendered, waitsForCompression);
      }
    } catch (err) {
      metrics.recordRender("failed");
      if (!failures.has(address)) log.error({ err, file: findFile(kept.routeId) }, "page not rendered");
    }
    failures.set(address, performance.now());
    return undefined;
  }

  const documents = await renderDocuments({ ...renderOptions, securityHeaders, log });
  const pages = routes.filter(({ pattern }) => !isDynamic(pattern));
  await Promise.all(pages.map(({ kept, pattern }) => kept && render(kept, pattern, true)));

  return {
    /** The document of a route that is rendered once. */
    findDocument: (routeId: string) => documents.get(routeId),
    find,
    /** Renders an address once for all who ask meanwhile. Resolves with nothing if it failed or can't be kept. */
    async refresh(kept: KeptPage, address: string) {
      if (performance.now() - (failures.get(address) ?? Number.NEGATIVE_INFINITY) < RETRY_INTERVAL_MS) return undefined;
      const rendering =
        renders.get(address) ?? render(kept, copyString(address)).finally(() => renders.delete(address));
      renders.set(address, rendering);
      return rendering;
    },
  };
}

export type PageStore = Awaited<ReturnType<typeof createPageStore>>;
