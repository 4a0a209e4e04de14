import { Counter, Gauge, type Registry } from "prom-client";
import { count, countBy, gauge } from "../../telemetry/metrics.ts";

const RESULTS = ["hit", "stale", "miss"] as const;

export type CacheResult = (typeof RESULTS)[number];

/** Creates the metrics of the page cache. `routes` are those whose series start at 0. */
export function createCacheMetrics(registry: Registry, routes: string[]) {
  const lookups = new Counter({
    name: "page_cache_requests_total",
    help: "Responses of cached routes: a fresh cache entry (hit), a stale one, or neither (miss).",
    labelNames: ["result", "http_route"],
    registers: [registry],
  });
  for (const route of routes) for (const result of RESULTS) lookups.inc({ result, http_route: route }, 0);
  const channelConnected = new Gauge({
    name: "page_cache_channel_connected",
    help: "1 if invalidations of other processes arrive. Without a cache channel, it has no value.",
    registers: [registry],
  });
  channelConnected.remove(); // A gauge begins at 0.
  return {
    recordLookup: (result: CacheResult, route: string) => lookups.inc({ result, http_route: route }),
    recordEviction: count(
      registry,
      "page_cache_evictions_total",
      "Cache entries removed because others needed the memory.",
    ),
    recordRender: countBy(registry, {
      name: "page_cache_renders_total",
      help: "Renders for the cache.",
      label: "result",
      values: {
        stored: "a cache entry",
        too_large: "larger than its share of PAGE_CACHE_MAX_BYTES",
        not_cacheable: "the log has a cache warning",
        invalidated: "while it ran, so it is repeated, at most twice",
        failed: "the log has the error",
      },
    }),
    recordInvalidation: countBy(registry, {
      name: "page_cache_invalidations_total",
      help: "Invalidations.",
      label: "source",
      values: { local: "from this process", received: "over the cache channel" },
    }),
    recordStore: countBy(registry, {
      name: "page_cache_store_total",
      help: "Answers of the store that processes share.",
      label: "result",
      values: {
        hit: "a valid page",
        miss: "none",
        stored: "a rendered page",
        refused: "a page that was invalidated while it was rendered",
        error: "an error, or none in 50 ms (250 ms while it answers others): not asked for 0.5 to 5 s",
      },
    }),
    measurePublishWait: (readSeconds: () => number) =>
      gauge(
        registry,
        "page_cache_publish_wait_seconds",
        "Time for which the oldest invalidation has waited to be published, or 0.",
        readSeconds,
      ),
    recordPurge: countBy(registry, {
      name: "page_cache_purges_total",
      help: "Purges of the cache in front.",
      label: "result",
      values: { sent: "all edits of half a second", failed: "it is tried again" },
    }),
    measurePurgeWait: (readSeconds: () => number) =>
      gauge(
        registry,
        "page_cache_purge_wait_seconds",
        "Time for which the oldest purge of the cache in front has waited, or 0.",
        readSeconds,
      ),
    setChannelConnected: (isConnected: boolean) => channelConnected.set(Number(isConnected)),
    measureSize(readSize: () => { entries: number; bytes: number }) {
      gauge(registry, "page_cache_entries", "Cache entries.", () => readSize().entries);
      gauge(registry, "page_cache_bytes", "Memory of the cache entries, in bytes.", () => readSize().bytes);
    },
  };
}

export type CacheMetrics = ReturnType<typeof createCacheMetrics>;
