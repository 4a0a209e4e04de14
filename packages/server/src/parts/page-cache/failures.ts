import { LRUCache } from "lru-cache";

type Failure = { at: number; result: "not_cacheable" | "failed" | "shed"; reason: string; hadEntry: boolean };

/** The memory for the cache keys and reasons of these renders, in bytes. */
const MAX_FAILURES_SIZE = 256 * 1024;

/** The last render for a cache key that stored nothing, and whether there was an entry then. */
export function createFailures() {
  return new LRUCache<string, Failure>({
    maxSize: MAX_FAILURES_SIZE,
    sizeCalculation: ({ reason }, { length }) => length + 2 * reason.length + 100,
  });
}

export type { Failure };
export type Failures = ReturnType<typeof createFailures>;
