import { LRUCache } from "lru-cache";
import type { SharedLifetime } from "../../http/cache-control.ts";
import type { Bodies, StoredResponse } from "../../http/stored-response.ts";
import { toPagePath } from "../../site/route-table.ts";
import type { CacheMetrics, CacheResult } from "./cache-metrics.ts";

export type CacheEntry = {
  /** Without `Cache-Control`. */
  response: StoredResponse;
  cacheControl: string;
  bodies: Bodies;
  lifetime: SharedLifetime;
  /** The cache groups of the response (RFC 9875 §2). */
  groups: string[];
  /** The pattern of its route. */
  route: string;
  /** On the clock of `performance.now()`. */
  renderedAt: number;
};

/**
 * Invalidates the entries of groups, and the pages and data at canonical paths. `everyGroup` expires each entry that has
 * a group, since some of them may be out of date: it is only sent if its render fails.
 */
export type Invalidation = { groups: string[]; paths: string[]; everyGroup?: boolean };

/** Entries with status 404 share this part of the memory, so that requests for missing pages evict no other entry. */
const NOT_FOUND_SHARE = 1 / 8;
/** The memory of an entry beside its bodies and its cache key: header lists, the maps. */
const ENTRY_BYTES = 4096;
/** While invalidations of other processes may be lost, an entry with groups is fresh for this long, in seconds. */
const DISCONNECTED_LIFETIME = 1;

/** The cache entries by cache key, with a limit in bytes. The least recently used is evicted first. */
export function createEntries(maxBytes: number, metrics: Pick<CacheMetrics, "recordLookup" | "recordEviction">) {
  const createStore = (share: number) =>
    new LRUCache<string, CacheEntry>({
      maxSize: Math.ceil(maxBytes * share),
      sizeCalculation: (entry, key) => ENTRY_BYTES + key.length + countBytes(entry),
      dispose: (_entry, _key, reason) => reason === "evict" && metrics.recordEviction(),
    });
  const found = createStore(1 - NOT_FOUND_SHARE);
  const notFound = createStore(NOT_FOUND_SHARE);
  const lookups = new Map<string, Record<CacheResult, number>>();
  const watches = new Set<Invalidation[]>();
  let isConnected = true;
  let groupsExpiredAt = Number.NEGATIVE_INFINITY;

  function remove(key: string) {
    found.delete(key);
    notFound.delete(key);
  }

  function invalidate(invalidation: Invalidation) {
    for (const invalidations of watches) invalidations.push(invalidation);
    if (invalidation.everyGroup) groupsExpiredAt = performance.now();
    const matches = createMatcher(invalidation);
    const count = found.size + notFound.size;
    for (const entries of [found, notFound]) {
      entries.forEach((entry, key) => {
        if (matches(key, entry)) entries.delete(key);
      });
    }
    return count - found.size - notFound.size;
  }

  return {
    find: (key: string) => found.get(key) ?? notFound.get(key),
    remove,
    invalidate,
    /** Collects invalidations while an entry is being rendered. */
    watch() {
      const invalidations: Invalidation[] = [];
      watches.add(invalidations);
      return invalidations;
    },
    unwatch: (invalidations: Invalidation[]) => watches.delete(invalidations),
    /** Stores an entry, unless it is larger than the cache or was invalidated since `watch`. */
    store(key: string, entry: CacheEntry, invalidations: Invalidation[]) {
      const isExpired = entry.groups.length > 0 && invalidations.some(({ everyGroup }) => everyGroup);
      if (isExpired || invalidations.some((invalidation) => createMatcher(invalidation)(key, entry)))
        return "invalidated";
      const [entries, others] = entry.response.status === 404 ? [notFound, found] : [found, notFound];
      others.delete(key);
      entries.set(key, entry);
      return entries.has(key) ? "stored" : "too_large";
    },
    lifetimeOf({ lifetime, groups, renderedAt }: CacheEntry): SharedLifetime {
      const isExpired = renderedAt < groupsExpiredAt;
      if (groups.length === 0 || (isConnected && !isExpired)) return lifetime;
      const fresh = isExpired ? 0 : Math.min(lifetime.fresh, DISCONNECTED_LIFETIME);
      return { ...lifetime, fresh, staleWhileRevalidate: 0 };
    },
    /** Sets whether invalidations of other processes arrive. On connection, entries with groups expire. */
    setConnected(connected: boolean) {
      isConnected = connected;
      if (connected) invalidate({ groups: [], paths: [], everyGroup: true });
    },
    recordLookup(result: CacheResult, route: string) {
      metrics.recordLookup(result, route);
      const counts = lookups.get(route) ?? { hit: 0, stale: 0, miss: 0 };
      counts[result] += 1;
      lookups.set(route, counts);
    },
    getSize: () => ({
      entries: found.size + notFound.size,
      bytes: found.calculatedSize + notFound.calculatedSize,
    }),
    /** Lists each route's entries: number, bytes of bodies, age of the oldest in seconds, lookups since the start. */
    describe() {
      const all = [...found.values(), ...notFound.values()];
      return [...new Set([...lookups.keys(), ...all.map(({ route }) => route)])].map((route) => {
        const counts = lookups.get(route) ?? { hit: 0, stale: 0, miss: 0 };
        const entries = all.filter((entry) => entry.route === route);
        const oldest = Math.min(...entries.map(({ renderedAt }) => renderedAt));
        const lookupCount = counts.hit + counts.stale + counts.miss;
        return {
          route,
          entries: entries.length,
          bytes: entries.reduce((sum, entry) => sum + countBytes(entry), 0),
          ...(entries.length > 0 && { oldestSeconds: Math.floor((performance.now() - oldest) / 1000) }),
          ...counts,
          hitRate: lookupCount === 0 ? 0 : Number(((counts.hit + counts.stale) / lookupCount).toFixed(3)),
        };
      });
    },
  };
}

export type CacheEntries = ReturnType<typeof createEntries>;

function countBytes({ bodies }: CacheEntry) {
  return Object.values(bodies).reduce((sum, { length }) => sum + length, 0);
}

function createMatcher({ groups, paths }: Invalidation) {
  const [groupSet, pathSet] = [new Set(groups), new Set(paths)];
  return (key: string, entry: CacheEntry) =>
    entry.groups.some((group) => groupSet.has(group)) ||
    (pathSet.size > 0 && pathSet.has(toPagePath(key.replace(/\?.*/s, ""))));
}
