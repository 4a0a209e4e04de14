import type { IncomingMessage } from "node:http";
import { expect, test, vi } from "vitest";
import type { CacheEntry } from "../server/cache/entries.ts";
import { createEntries } from "../server/cache/entries.ts";
import type { Response } from "../server/chain.ts";
import { cache } from "../server/middleware/cache.ts";
import { storeResponse } from "../server/response/stored-response.ts";
import { OVERLOADED } from "../server/semaphore.ts";

const bodies = { identity: Buffer.from("stale") };
const ENTRY: CacheEntry = {
  response: storeResponse({ status: 200, headers: {}, contentType: "text/plain", bodies }),
  cacheControl: "s-maxage=1, stale-if-error=3600",
  bodies,
  lifetime: { fresh: 1, staleWhileRevalidate: 0, staleIfError: 3600 },
  groups: [],
  route: "/",
  renderedAt: performance.now() - 2000,
};

test.each([
  ["gets the stale response", false, 1],
  ["gets nothing more if it has a response already", true, 0],
])("a client whose page can't be rendered %s", async (_label, headersSent, count) => {
  const entries = createEntries(100_000, { recordLookup() {}, recordStored() {}, recordEviction() {} });
  entries.store("/", ENTRY, []);
  const revalidate = vi.fn(() => Promise.reject(OVERLOADED));
  const end = vi.fn();
  const writeHead = vi.fn(() => ({ end }));
  const route = { pattern: "/", cacheRule: { filterQuery: () => "" } };
  const res = { headersSent, writeHead, locals: { route, canonicalPath: "/", target: { query: "" } } };
  cache(entries, revalidate)({ method: "GET", headers: {} } as IncomingMessage, res as unknown as Response, vi.fn());
  await vi.waitFor(() => expect(revalidate.mock.settledResults).toMatchObject([{ type: "rejected" }]));
  await Promise.resolve();
  expect(writeHead).toHaveBeenCalledTimes(count);
});
