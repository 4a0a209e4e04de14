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

/** Fresh with the channel, but stale without it. */
const GROUPED = {
  ...ENTRY,
  groups: ["a"],
  cacheControl: "s-maxage=60, stale-if-error=3600",
  lifetime: { fresh: 60, staleWhileRevalidate: 0, staleIfError: 3600 },
};
const STALE = ["Cache-Control", "s-maxage=1, stale-if-error=3600"];

test.each([
  ["gets the stale response", ENTRY, false, false, [STALE]],
  ["gets the response with groups as a stale one, while the channel is disconnected", GROUPED, false, false, [STALE]],
  ["gets the response with groups as a stale one, after the channel has connected", GROUPED, true, false, [STALE]],
  ["gets nothing more if it has a response already", ENTRY, false, true, []],
])("a client whose page can't be rendered %s", async (_label, stored, isConnected, headersSent, sent) => {
  const entries = createEntries(100_000, { recordLookup() {}, recordEviction() {} });
  entries.store("/", stored, []);
  entries.setConnected(isConnected);
  const revalidate = vi.fn(() => Promise.reject(OVERLOADED));
  const end = vi.fn();
  const writeHead = vi.fn((_status: number, _headers: string[]) => ({ end }));
  const route = { pattern: "/", cacheRule: { filterQuery: () => "" } };
  const res = { headersSent, writeHead, locals: { route, canonicalPath: "/", target: { query: "" } } };
  cache(entries, revalidate)({ method: "GET", headers: {} } as IncomingMessage, res as unknown as Response, vi.fn());
  await vi.waitFor(() => expect(revalidate.mock.settledResults).toMatchObject([{ type: "rejected" }]));
  await Promise.resolve();
  expect(writeHead.mock.calls.map(([, headers]) => headers.slice(-4, -2))).toEqual(sent);
});
