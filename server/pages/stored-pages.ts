import { LRUCache } from "lru-cache";
import type { Bodies, StoredResponse } from "../http/stored-response.ts";

/** A page in memory, and when it was rendered, on the clock of `performance.now()`. */
export type StoredPage = { response: StoredResponse; bodies: Bodies; renderedAt: number };

type Options = {
  /** How many pages there may be, and how many bytes they may take. */
  maxPages: number;
  maxBytes: number;
  recordStored: (pages: number, bytes: number) => void;
};

/** Pages that are not found have a part to themselves: however many are asked for, no other has to go. */
const NOT_FOUND_SHARE = 1 / 8;
/** What a page takes beside its content and its address: header lists, the maps. */
const PAGE_BYTES = 4096;

/** Pages by address, bounded in number and bytes: those that were not used for the longest time go first. */
export function createStoredPages({ maxPages, maxBytes, recordStored }: Options) {
  const createCache = (share: number) =>
    new LRUCache<string, StoredPage>({
      max: Math.ceil(maxPages * share),
      maxSize: Math.ceil(maxBytes * share),
      sizeCalculation: ({ bodies }, address) =>
        Object.values(bodies).reduce((sum, { length }) => sum + length, PAGE_BYTES + address.length),
    });
  const found = createCache(1 - NOT_FOUND_SHARE);
  const notFound = createCache(NOT_FOUND_SHARE);
  const report = () => recordStored(found.size + notFound.size, found.calculatedSize + notFound.calculatedSize);
  return {
    find: (address: string) => found.get(address) ?? notFound.get(address),
    put(address: string, page: StoredPage) {
      const [cache, other] = page.response.status === 404 ? [notFound, found] : [found, notFound];
      other.delete(address);
      cache.set(address, page);
      report();
      return page;
    },
    remove(address: string) {
      found.delete(address);
      notFound.delete(address);
      report();
    },
    addresses: () => [...found.keys(), ...notFound.keys()],
  };
}
