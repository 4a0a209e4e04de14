import { EventEmitter } from "node:events";
import type { Response } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import type { RouteEntry } from "../../locals.ts";
import type { SlotQueue } from "../../overload/index.ts";
import type { MeasuredPart } from "../../pages/context.ts";
import { toUrlPath } from "../../site/base-path.ts";
import { ChangedHtmlError } from "../../site/changed-html-error.ts";
import type { Pages } from "../../site/pages.ts";
import { copyString } from "../../site/route-table.ts";
import { limitRate } from "../../telemetry/limit-rate.ts";
import { describeError } from "../../telemetry/log-text.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import { type AnonymousResponse, createCompression, createEntry, type Effort } from "./create-entry.ts";
import type { Failure, Failures } from "./failures.ts";
import type { CacheEntries, CacheEntry } from "./memory.ts";
import type { Turn } from "./page-store.ts";
import { renderAll } from "./render-all.ts";
import type { SharedPages } from "./shared-pages.ts";

type Options = {
  pages: Pages;
  entries: CacheEntries;
  failures: Failures;
  sharedPages: SharedPages;
  /** Renders the response for a cache key. Rejects if anything in the page fails or exceeds `renderTimeoutMs`. */
  renderAnonymously: (key: string, route: RouteEntry, parts?: MeasuredPart[]) => Promise<AnonymousResponse>;
  renderTimeoutMs: number;
  /** Admits renders. */
  renderSlots: SlotQueue;
  log: Logger;
  metrics: Pick<CacheMetrics, "recordRender">;
};

type Client = { resolve: (entry: CacheEntry | undefined) => void; reject: (error: Error) => void };
/** `parts` are the loaders and renders that have started for them. */
type Clients = EventEmitter & { waiting: Set<Client>; parts: MeasuredPart[] };

/** After a render that failed or isn't cacheable, the next for its cache key waits this long. */
const RETRY_INTERVAL_MS = 5000;
const HAS_FAILED = createHttpError(503, { expose: true, headers: { "Retry-After": String(RETRY_INTERVAL_MS / 1000) } });
/** Lines per second. */
const MAX_FAILURES_LOGGED = 1;
/** An entry that is invalidated while it is rendered is rendered again, up to this many times in all. */
const MAX_RENDERS = 3;

const READS_HEADERS =
  "a loader or middleware of the route or its parents reads the request's headers, but a cached response is rendered without " +
  "cookies and client headers, except those of handle.variants (docs/caching.md)";

/** Renders responses for the cache, and stores them. */
export function createRevalidation(options: Options) {
  const { pages, entries, failures, sharedPages, renderAnonymously, renderTimeoutMs, renderSlots, log, metrics } =
    options;
  /** After a render that failed, a page counts as failing until the next render has timed out, and a little longer. */
  const failingMs = 2 * (RETRY_INTERVAL_MS + renderTimeoutMs);
  const { base, routes, prerendered, findFile, isProduction } = pages;
  const logFailure = limitRate(MAX_FAILURES_LOGGED, (err: unknown, key: string, file: string) =>
    log.error({ err, file, "url.path": key.replace(/[?#].*/s, "") }, "page not rendered"),
  );
  /**
   * The clients that wait for a render, by cache key. Those that leave are removed, since each takes memory. Not in one
   * map with `failures`, which evicts keys: a render that runs must be found.
   */
  const renders = new Map<string, Clients>();
  const warned = new Set<string>();

  /** Logs a cache warning, once for each route and kind of reason. */
  function warn({ id }: RouteEntry, reason: string) {
    const kind = id + reason.split(": ", 2).join(); // Without the header's value, which may differ each time.
    if (!warned.has(kind)) log.warn({ file: findFile(id), reason }, "cache warning");
    warned.add(kind);
  }

  const toPage = createCompression();

  type Render = { effort: Effort; turn?: Turn | undefined; parts?: MeasuredPart[] | undefined };

  /** Resolves with undefined if it isn't cacheable, or if every render was invalidated. */
  async function renderEntry(key: string, route: RouteEntry, { effort, parts, ...render }: Render) {
    let { turn } = render;
    for (let count = 0; count < MAX_RENDERS; count += 1) {
      const invalidations = entries.watch();
      try {
        const rendered = await renderAnonymously(key, route, parts);
        if (rendered.readsHeaders) warn(route, READS_HEADERS);
        if (rendered.uncacheableReason !== undefined) {
          warn(route, `not cacheable: ${rendered.uncacheableReason}`);
          entries.remove(key); // Otherwise later requests could get the stale entry.
          turn?.end({ isRemoved: true });
          recordFailure(key, "not_cacheable", rendered.uncacheableReason);
          metrics.recordRender("not_cacheable");
          return undefined;
        }
        const renderedAt = performance.now();
        const page = await toPage(rendered, effort, entries.find(key)?.bodies);
        const entry = createEntry(page, route, renderedAt);
        const shared = turn && (await sharedPages.store(turn, key, page, entry));
        if (shared === "lost") return (await sharedPages.lookUp(key, route))?.entry ?? entry;
        if (shared === "stored") turn = undefined;
        const result = shared === "invalidated" ? shared : entries.store(key, entry, invalidations);
        metrics.recordRender(result);
        if (result === "too_large" && isProduction) warn(route, "larger than its part of PAGE_CACHE_MAX_BYTES");
        if (result !== "invalidated") return entry;
      } finally {
        entries.unwatch(invalidations);
      }
    }
    return undefined;
  }

  /** `clients` emits "close" when every client has left. */
  async function render(key: string, route: RouteEntry, effort: Effort, clients?: Clients) {
    const { turn, entry } = sharedPages.isOpen() && !route.prerendered ? await sharedPages.takeTurn(key, route) : {};
    if (entry) {
      failures.delete(key);
      return entry;
    }
    try {
      return await renderInSlot(key, route, { effort, turn, parts: clients?.parts }, clients);
    } finally {
      turn?.end();
    }
  }

  async function renderInSlot(key: string, route: RouteEntry, options: Render, clients?: Clients) {
    const release = await renderSlots
      .acquire({ weight: 1, route: route.pattern, isReserved: true }, clients)
      .catch((error) => {
        // Clients of the stale response needn't wait for another slot.
        if (clients?.waiting.size && entries.find(key)) recordFailure(key, "shed", "no slot was free");
        throw error;
      });
    try {
      const entry = await renderEntry(key, route, options);
      if (entry) failures.delete(key);
      return entry;
    } catch (err) {
      if (options.effort === "best" && err instanceof ChangedHtmlError) throw err; // Only `renderAll` waits for the best.
      metrics.recordRender("failed");
      if (failures.get(key)?.result !== "failed") logFailure(err, key, findFile(route.id));
      recordFailure(key, "failed", describeError(err));
      return undefined;
    } finally {
      release();
    }
  }

  const recordFailure = (key: string, result: Failure["result"], reason = "") =>
    failures.set(key, { at: performance.now(), result, reason, hadEntry: entries.find(key) !== undefined });

  function findRecentFailure(key: string, maxAgeMs = RETRY_INTERVAL_MS) {
    const failure = failures.get(key);
    return failure && performance.now() - failure.at < maxAgeMs ? failure : undefined;
  }

  const hasFailed = (failure?: Failure) => failure !== undefined && failure.result !== "not_cacheable";

  function startRender(key: string, route: RouteEntry) {
    const clients = Object.assign(new EventEmitter(), { waiting: new Set<Client>(), parts: [] });
    renders.set(key, clients);
    render(copyString(key), route, "fast", clients)
      .finally(() => renders.delete(key))
      .then(
        (entry) => {
          // If the render failed, the first client gets the error page, and the others get a 503.
          const isFailed = !entry && isProduction && hasFailed(findRecentFailure(key));
          const [first, ...others] = clients.waiting;
          first?.resolve(entry);
          for (const { resolve, reject } of others) isFailed ? reject(HAS_FAILED) : resolve(entry);
        },
        (error) => clients.waiting.forEach(({ reject }) => void reject(error)),
      );
    return clients;
  }

  return {
    /** Whether a render for a cache key has failed lately, or got no slot, and none has succeeded since. */
    isFailing: (key: string) => hasFailed(findRecentFailure(key, failingMs)),
    /** Looks for a newer page in the store that processes share, unless there is none or it is down. */
    refresh(key: string, route: RouteEntry) {
      if (route.prerendered || !sharedPages.isOpen() || findRecentFailure(key)) return undefined;
      return sharedPages.lookUp(copyString(key), route);
    },
    async renderAll() {
      await sharedPages.waitUntilConnected();
      await renderAll(routes, (key, route) => {
        const urlKey = toUrlPath(base, key);
        return render(urlKey, prerendered.get(urlKey) ?? route, "best");
      });
    },
    /**
     * Renders the response for a cache key and stores it. Requests for a key that is being rendered share that render.
     * Resolves with undefined if the render isn't cacheable, was invalidated or, for the first client, failed. Others
     * of a failed render get a 503, as do all in the next 5 s, or while the server is too busy. It never settles if the
     * client has left.
     */
    revalidate(key: string, route: RouteEntry, res?: Response) {
      return new Promise<CacheEntry | undefined>((resolve, reject) => {
        // After an edit has removed the entry, the reason of the failure may be gone.
        const isOver = failures.get(key)?.hadEntry && !entries.find(key);
        const failure = isOver ? undefined : findRecentFailure(key);
        if (hasFailed(failure) && isProduction) return reject(HAS_FAILED);
        if (failure) return resolve(undefined);
        const clients = renders.get(key) ?? startRender(key, route);
        const client = { resolve, reject };
        clients.waiting.add(client);
        if (res) res.locals.cachedParts = clients.parts;
        res?.once("close", () => {
          clients.waiting.delete(client);
          if (clients.waiting.size === 0) clients.emit("close");
        });
      });
    },
  };
}

export type Revalidation = ReturnType<typeof createRevalidation>;
