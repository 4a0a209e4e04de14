import type { RequestListener } from "node:http";
import type { Request, Response } from "express";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { createExpress } from "../../express.ts";
import { storeResponse } from "../../http/stored-response.ts";
import type { RouteEntry } from "../../locals.ts";
import { OVERLOADED } from "../../overload/index.ts";
import { createVariants } from "../../site/variants.ts";
import { createEntry, parsePage } from "./create-entry.ts";
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
  pageCache("test", entries, { revalidate, isFailing: () => false, refresh: () => undefined })(
    req,
    res as unknown as Response,
    vi.fn(),
  );
  await vi.waitFor(() => expect(revalidate.mock.settledResults).toMatchObject([{ type: "rejected" }]));
  await Promise.resolve();
  expect(writeHead.mock.calls.map(([, headers]) => headers.slice(-4, -2))).toEqual(sent);
  expect(recordLookup.mock.calls.map(([result]) => result)).toEqual(counted);
});

const COOKIE = createVariants({ Cookie: { theme: ["light", "dark"] } });
const LANGUAGE = createVariants({ "Accept-Language": ["en", "de"] });

test.each([
  ["a page that differs by a cookie has no lifetime", COOKIE, {}, undefined],
  [
    "a page for a user who has signed in by Authorization has no lifetime",
    undefined,
    { Authorization: "a" },
    undefined,
  ],
  ["a page that is the same for all users keeps its lifetime", undefined, {}, "max-age=60"],
  ["a page that differs by language keeps its lifetime", LANGUAGE, {}, "max-age=60"],
])("for shared caches in front, %s", async (_label, variants, sent, lifetime) => {
  const names = ["CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "Surrogate-Control"];
  const ofPage = Object.fromEntries(names.slice(1).map((name) => [name, "max-age=60"]));
  const response = storeResponse({ status: 200, headers: ofPage, contentType: "text/plain", bodies });
  const entry = { ...ENTRY, response, lifetime: { ...ENTRY.lifetime, fresh: 60 } };
  const entries = createEntries(100_000, { recordLookup() {}, recordEviction() {} });
  for (const key of ["/", "/#theme=light", "/#Accept-Language=en"]) entries.store(key, entry, []);
  const route = { pattern: "/", cacheRule: { filterQuery: () => "", variants } };
  const handle = pageCache("test", entries, { revalidate: vi.fn(), isFailing: () => false, refresh: () => undefined });
  const app = createExpress().use((req, res, next) => {
    Object.assign(res.locals, { route, canonicalPath: "/", target: { query: "" } });
    res.setHeader("CDN-Cache-Control", "max-age=60"); // Of middleware in front.
    handle(req, res, next);
  });
  const { status, headers } = await request(app as RequestListener)
    .get("/")
    .set(sent);
  expect([status, ...names.map((name) => headers[name.toLowerCase()])]).toEqual([200, lifetime, lifetime, lifetime]);
  expect(headers["cache-control"]).toMatch(lifetime ? /s-maxage/ : /^private, no-cache$/);
});

test.each([
  ["keeps a fresh page for CDN-Cache-Control", 0, true, ["s-maxage=60", "0", "max-age=86400"]],
  ["keeps a stale page for 1 s", 61_000, true, ["s-maxage=1", undefined, undefined]],
  ["keeps a page for 1 s while the cache channel is disconnected", 0, false, ["s-maxage=1", undefined, undefined]],
])("a cache in front %s", async (_label, ageMs, isConnected, expected) => {
  const headers = {
    "cache-control": "s-maxage=60, stale-while-revalidate=600",
    "cdn-cache-control": "max-age=86400",
    "cache-groups": '"a"',
  };
  const entries = createEntries(100_000, { recordLookup() {}, recordEviction() {} });
  const route = { pattern: "/", cacheRule: { filterQuery: () => "" } } as unknown as RouteEntry;
  const page = parsePage({ status: 200, contentType: "text/plain", headers, bodies });
  if (!isConnected) entries.setConnected(false);
  entries.store("/", createEntry(page, route, performance.now() - ageMs), []);
  const revalidate = () => new Promise<undefined>(() => {});
  const handle = pageCache("test", entries, { revalidate, isFailing: () => false, refresh: () => undefined });
  const app = createExpress().use((req, res, next) => {
    Object.assign(res.locals, { route, canonicalPath: "/", target: { query: "" } });
    handle(req, res, next);
  });
  const { headers: sent } = await request(app as RequestListener).get("/");
  const [sMaxAge] = /s-maxage=\d+/.exec(sent["cache-control"] ?? "") ?? [];
  expect([sMaxAge, sent.age, sent["cdn-cache-control"]]).toEqual(expected);
});
