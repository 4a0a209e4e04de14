import { expect, test, vi } from "vitest";
import { storeResponse } from "../../http/stored-response.ts";
import { type CacheEntry, createEntries } from "./memory.ts";

const NOTHING = { groups: [], paths: [], prefixes: [] };

function createStore(maxBytes = 1_000_000) {
  const recordEviction = vi.fn();
  return { ...createEntries(maxBytes, { recordLookup() {}, recordEviction }), recordEviction };
}

function createEntry(groups: string[] = [], { bytes = 100, status = 200 } = {}): CacheEntry {
  const bodies = { identity: Buffer.alloc(bytes) };
  const lifetime = { fresh: 60, staleWhileRevalidate: 10, staleIfError: 3600 };
  const response = storeResponse({ status, headers: {}, contentType: "text/html", bodies });
  return { response, cacheControl: "s-maxage=60", bodies, lifetime, groups, route: "/", renderedAt: performance.now() };
}

test.each([
  ["a group", { ...NOTHING, groups: ["shop"] }, ["/shop", "/shop/1?page=2"]],
  ["a path, with its data and queries", { ...NOTHING, paths: ["/about"] }, ["/about", "/about.data", "/about?a"]],
  ["a prefix in any case", { ...NOTHING, prefixes: ["/ABOUT"] }, ["/about", "/about.data", "/about/us", "/about?a"]],
  ["nothing", NOTHING, []],
])("an invalidation of %s removes its entries", (_what, invalidation, removed) => {
  const store = createStore();
  for (const key of ["/about", "/about.data", "/about?a", "/about/us"]) store.store(key, createEntry(), []);
  for (const key of ["/shop", "/shop/1?page=2"]) store.store(key, createEntry(["shop"]), []);
  expect(store.invalidate(invalidation).toSorted()).toEqual(removed);
  expect(removed.filter((key) => store.find(key))).toEqual([]);
  expect(store.getSize().entries).toBe(6 - removed.length);
});

test.each([
  ["its group", { ...NOTHING, groups: ["shop"] }, "invalidated"],
  ["everything", { ...NOTHING, everything: true }, "invalidated"],
  ["another group", { ...NOTHING, groups: ["blog"] }, "stored"],
])("of an entry whose render an invalidation of %s has overtaken: %s", (_what, invalidation, result) => {
  const store = createStore();
  const watch = store.watch();
  store.invalidate(invalidation);
  expect(store.store("/shop", createEntry(["shop"]), watch)).toBe(result);
});

test("the memory has a limit, and missing pages evict no other", () => {
  const store = createStore(100_000);
  store.store("/", createEntry(), []);
  for (let i = 0; i < 100; i += 1) store.store(`/missing-${i}`, createEntry([], { status: 404 }), []);
  expect(store.getSize().bytes).toBeLessThan(100_000);
  expect(store.recordEviction).toHaveBeenCalled();
  expect(store.find("/")).toBeDefined();
  expect(store.store("/large", createEntry([], { bytes: 100_000 }), [])).toBe("too_large");
});

test.each([
  ["of a connected channel", true, ["shop"], 60],
  ["with groups, while the channel is disconnected", false, ["shop"], 1],
  ["without groups, while the channel is disconnected", false, [], 60],
])("an entry %s is fresh for its time", (_what, isConnected, groups, fresh) => {
  const store = createStore();
  if (!isConnected) store.setConnected(false);
  const lifetime = store.lifetimeOf(createEntry(groups));
  expect(lifetime.fresh).toBe(fresh);
  // It is sent for as long as otherwise if its render fails.
  expect(lifetime.fresh + lifetime.staleIfError).toBe(3660);
});
