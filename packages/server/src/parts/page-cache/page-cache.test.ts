import type { Request, Response } from "express";
import { expect, test, vi } from "vitest";
import { storeResponse } from "../../http/stored-response.ts";
import { OVERLOADED } from "../../overload/index.ts";
import type { CacheEntry } from "./memory.ts";
import { createEntries } from "./memory.ts";
import { pageCache } from "./page-cache.ts";

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
  ["gets the stale response", ENTRY, false, false, [STALE], ["stale"]],
  ["gets the response with groups, while the channel is disconnected", GROUPED, false, false, [STALE], ["stale"]],
  ["gets the response with groups, after the channel has connected", GROUPED, true, false, [STALE], ["stale"]],
  ["gets nothing more if it has a response already", ENTRY, false, true, [], []],
])("a client whose page can't be rendered %s", async (_label, stored, isConnected, headersSent, sent, counted) => {
  const recordLookup = vi.fn();
  const entries = createEntries(100_000, { recordLookup, recordEviction() {} });
  entries.store("/", stored, []);
  entries.setConnected(isConnected);
  const revalidate = vi.fn(() => Promise.reject(OVERLOADED));
  const end = vi.fn();
  const writeHead = vi.fn((_status: number, _headers: string[]) => ({ end }));
  const route = { pattern: "/", cacheRule: { filterQuery: () => "" } };
  const earlier = { hasHeader: () => false, getHeaderNames: () => [] };
  const res = { ...earlier, headersSent, writeHead, locals: { route, canonicalPath: "/", target: { query: "" } } };
  const req = { method: "GET", headers: {} } as Request;
  pageCache("test", entries, { revalidate, isFailing: () => false })(req, res as unknown as Response, vi.fn());
  await vi.waitFor(() => expect(revalidate.mock.settledResults).toMatchObject([{ type: "rejected" }]));
  await Promise.resolve();
  expect(writeHead.mock.calls.map(([, headers]) => headers.slice(-4, -2))).toEqual(sent);
  expect(recordLookup.mock.calls.map(([result]) => result)).toEqual(counted);
});
