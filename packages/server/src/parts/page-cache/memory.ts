import { LRUCache } from "lru-cache";
import type { SharedLifetime } from "../../http/cache-control.ts";
import { parseRequestTarget } from "../../http/request-target.ts";
import type { Bodies, StoredResponse } from "../../http/stored-response.ts";
import { toPagePath } from "../../site/route-table.ts";
import type { CacheMetrics, CacheResult } from "./cache-metrics.ts";

export type CacheEntry = {
  /** Without `Cache-Control` and `sharedLifetimes`. */
  response: StoredResponse;
  cacheControl: string;
  /** The headers for caches in front alone, such as CDN-Cache-Control: names and values in turn. */
  sharedLifetimes?: string[];
  bodies: Bodies;
  lifetime: SharedLifetime;
  /** The cache groups of the response (RFC 9875 §2). */
  groups: string[];
  /** The pattern of its route. */
  route: string;
  /** On the clock of `performance.now()`. */
  renderedAt: number;
  /** In the store that processes share. */
  version?: string;
  /** When the store last had this version. Without it, the entry was last known to be valid at its render. */
  checkedAt?: number;
};

/**
 * Removes the entries of groups, the pages and data at canonical paths, and those whose decoded path has a prefix, in
 * any case. `everything` expires all entries, since some of them may be out of date: they are only sent if their render
 * fails.
 */
export type Invalidation = { groups: string[]; paths: string[]; prefixes: string[]; everything?: boolean };

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
  let expiredAt = Number.NEGATIVE_INFINITY;

  function remove(key: string) {
    found.delete(key);
    notFound.delete(key);
  }

  function invalidate(invalidation: Invalidation) {
    for (const invalidations of watches) invalidations.push(invalidation);
    if (invalidation.everything) expiredAt = performance.now();
    const matches = createMatcher(invalidation);
    const keys = [...listAll()].filter(([key, entry]) => matches(key, entry)).map(([key]) => key);
    for (const key of keys) remove(key);
    return keys;
  }

  function* listAll() {
    yield* found.entries();
    yield* notFound.entries();
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
      const isInvalidated = (invalidation: Invalidation) =>
        invalidation.everything || createMatcher(invalidation)(key, entry);
      if (invalidations.some(isInvalidated)) return "invalidated";
      const [entries, others] = entry.response.status === 404 ? [notFound, found] : [found, notFound];
      others.delete(key);
      entries.set(key, entry);
      return entries.has(key) ? "stored" : "too_large";
    },
    /** An entry that may be out of date is sent if its render fails, for as long as it would be otherwise. */
    lifetimeOf({ lifetime, groups, renderedAt, checkedAt = renderedAt }: CacheEntry): SharedLifetime {
      const isExpired = checkedAt < expiredAt;
      if (!isExpired && (isConnected || groups.length === 0)) return lifetime;
      const fresh = isExpired ? 0 : Math.min(lifetime.fresh, DISCONNECTED_LIFETIME);
      return { fresh, staleWhileRevalidate: 0, staleIfError: lifetime.fresh + lifetime.staleIfError - fresh };
    },
    /** Sets whether invalidations of other processes arrive. On connection, all entries expire: some may be lost. */
    setConnected(connected: boolean) {
      isConnected = connected;
      if (connected) invalidate({ groups: [], paths: [], prefixes: [], everything: true });
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
    /** Lists the entries of a page and its data, for each query and variant. */
    list: (pagePath: string) => [...listAll()].filter(([key]) => pagePathOf(key) === pagePath).map(describeEntry),
    /** Lists the largest entries and the oldest, at most `count` of each. */
    listExtremes(count: number) {
      const all = [...listAll()].map(describeEntry);
      const largest = all.toSorted((a, b) => b.bytes - a.bytes).slice(0, count);
      const oldest = all.toSorted((a, b) => b.ageSeconds - a.ageSeconds).slice(0, count);
      return { largest, oldest };
    },
    /** Lists each route's entries: number, bytes of bodies, age of the oldest in seconds, lookups since the start. */
    describe() {
      const all = [...listAll()].map(([, entry]) => entry);
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

function describeEntry([key, entry]: [string, CacheEntry]) {
  return {
    key,
    status: entry.response.status,
    cacheControl: entry.cacheControl,
    ageSeconds: Math.floor((performance.now() - entry.renderedAt) / 1000),
    groups: entry.groups,
    bytes: countBytes(entry),
  };
}

function countBytes({ bodies }: CacheEntry) {
  return Object.values(bodies).reduce((sum, { length }) => sum + length, 0);
}

/** The path of the page that a cache key is of, without `.data`, the query and the variant. */
export function pagePathOf(key: string) {
  return toPagePath(key.replace(/[?#].*/s, ""));
}

function createMatcher({ groups, paths, prefixes }: Invalidation) {
  const [groupSet, pathSet] = [new Set(groups), new Set(paths)];
  const hasPrefix = (key: string) => {
    const path = parseRequestTarget(key.replace(/#.*/s, ""))?.decodedPath.toLowerCase() ?? key;
    return prefixes.some((prefix) => path.startsWith(prefix.toLowerCase()));
  };
  return (key: string, entry: CacheEntry) =>
    entry.groups.some((group) => groupSet.has(group)) ||
    (pathSet.size > 0 && pathSet.has(pagePathOf(key))) ||
    (prefixes.length > 0 && hasPrefix(key));
}
