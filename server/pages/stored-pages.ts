import { LRUCache } from "lru-cache";
import type { Bodies, StoredResponse } from "../http/stored-response.ts";

/** A page in memory, and when it was rendered, on the clock of `performance.now()`. */
export type StoredPage = { response: StoredResponse; bodies: Bodies; renderedAt: number };

export type StoreMetrics = {
  recordStored: (pages: number, bytes: number) => void;
  recordEviction: () => void;
};

/** Pages that are not found have a part of their own, so that requests for them evict no other page. */
const NOT_FOUND_SHARE = 1 / 8;
/** The memory of a page beside its bodies and its cache key: header lists, the maps. */
const PAGE_BYTES = 4096;

/** Pages by cache key, within a number of bytes: the least recently used go first. */
export function createStoredPages(maxBytes: number, { recordStored, recordEviction }: StoreMetrics) {
  const createCache = (share: number) =>
    new LRUCache<string, StoredPage>({
      maxSize: Math.ceil(maxBytes * share),
      sizeCalculation: ({ bodies }, key) =>
        Object.values(bodies).reduce((sum, { length }) => sum + length, PAGE_BYTES + key.length),
      dispose: (_page, _key, reason) => reason === "evict" && recordEviction(),
    });
  const found = createCache(1 - NOT_FOUND_SHARE);
  const notFound = createCache(NOT_FOUND_SHARE);
  const report = () => recordStored(found.size + notFound.size, found.calculatedSize + notFound.calculatedSize);
  return {
    find: (key: string) => found.get(key) ?? notFound.get(key),
    put(key: string, page: StoredPage) {
      const [cache, other] = page.response.status === 404 ? [notFound, found] : [found, notFound];
      other.delete(key);
      cache.set(key, page);
      report();
      return page;
    },
    remove(key: string) {
      found.delete(key);
      notFound.delete(key);
      report();
    },
    keys: () => [...found.keys(), ...notFound.keys()],
  };
}
