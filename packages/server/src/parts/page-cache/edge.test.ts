import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import type { RouteEntry } from "../../locals.ts";
import { createCacheMetrics } from "./cache-metrics.ts";
import type { PurgedInvalidation } from "./edge.ts";
import { createCache } from "./invalidation.ts";

const ROUTE = { pattern: "/:page", cacheRule: {} } as RouteEntry;
/** Longer than invalidations are collected. */
const BATCH_MS = 700;

/** A cache behind one that records its purges, and rejects them while it is down. */
function connect(maxTags?: number) {
  const edge = { isUp: true, attempts: 0, retryAfterSeconds: 0, purged: [] as PurgedInvalidation[] };
  const lines: string[] = [];
  const registry = new Registry();
  const cache = createCache({
    maxBytes: 1e6,
    log: pino({ base: null }, { write: (line) => lines.push(JSON.parse(line).msg) }),
    metrics: createCacheMetrics(registry, []),
    site: "@acme/shop",
    release: "1",
    findRoute: (path) => ({ route: ROUTE, canonicalPath: path }),
    shutdown: new AbortController().signal,
  });
  cache.connectEdge({
    toHeaders: (tags) => ({ "Cache-Tag": tags.join(",") }),
    ...(maxTags !== undefined && { maxTags }),
    async send(invalidation) {
      edge.attempts += 1;
      const { retryAfterSeconds } = edge;
      if (!edge.isUp) throw Object.assign(new Error("down"), { retryAfterSeconds });
      edge.purged.push(invalidation);
    },
  });
  const read = async (name: string) => {
    const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
    return values.map(({ labels, value }) => [...Object.values(labels), value]);
  };
  return { cache, edge, lines, read };
}

const none = { groups: [], paths: [], prefixes: [] };
/** The tag of every page. */
const SITE = "%40acme/shop";

test.concurrent.for<[string, object, string[]]>([
  ["groups, encoded", { groups: ["a", "b, c"] }, ["a", "b%2c%20c"]],
  ["paths", { paths: ["/shop/%C3%A9"] }, ["/shop/%25C3%25A9"]],
  ["prefixes, by the tag of every page", { prefixes: ["/shop/"] }, [SITE]],
])("an edit purges %s", async ([_label, invalidation, tags], { expect }) => {
  const { cache, edge, read } = connect();
  expect(await cache.purge({ ...none, ...invalidation })).toMatchObject({ edge: "queued" });
  await expect.poll(() => edge.purged).toEqual([{ ...none, ...invalidation, tags }]);
  expect(await read("page_cache_purges_total")).toEqual([
    ["sent", 1],
    ["failed", 0],
  ]);
  expect(await read("page_cache_purge_wait_seconds")).toEqual([[0]]);
});

test("a page has the tags of its groups, its path and the site, and its data has the same", () => {
  const { cache } = connect();
  const expected = ["Cache-Tag", `${SITE},/shop,a,b%20c`];
  for (const key of ["/shop", "/shop?page=2", "/shop.data#Accept-Language=en"])
    expect(cache.tagHeadersOf(key, ["a", "b c"])).toEqual(expected);
});

test.concurrent("edits within half a second are one purge, and no editor waits for it", async ({ expect }) => {
  const { cache, edge } = connect();
  for (const group of ["a", "b", "a"]) await cache.invalidate([group], ["/shop"]);
  expect(edge.attempts).toBe(0);
  await expect.poll(() => edge.purged).toMatchObject([{ tags: ["a", "b", "/shop"] }]);
  await cache.invalidate(["c"]);
  await expect.poll(() => edge.purged).toMatchObject([{}, { tags: ["c"] }]);
});

test.concurrent("a failed purge is retried with later tags, is measured, and is logged once", async ({ expect }) => {
  const { cache, edge, lines, read } = connect();
  edge.isUp = false;
  await cache.invalidate(["a"]);
  await expect.poll(() => edge.attempts, { interval: 10 }).toBe(2);
  expect(await cache.purge({ ...none, groups: ["b"] })).toMatchObject({ edge: "retrying" });
  expect(cache.describeEdge()).toMatch(/^not purged for \d+ s, tried again$/);
  const [[seconds = 0] = []] = await read("page_cache_purge_wait_seconds");
  expect(Number(seconds)).toBeGreaterThan(1);
  edge.isUp = true;
  await expect.poll(() => edge.purged).toMatchObject([{ tags: ["a", "b"] }]);
  await expect.poll(() => lines).toEqual(["cache in front not purged", "cache in front purged"]);
  expect(await read("page_cache_purges_total")).toEqual([
    ["sent", 1],
    ["failed", edge.attempts - 1],
  ]);
  expect(await read("page_cache_purge_wait_seconds")).toEqual([[0]]);
});

test.concurrent("a refused purge is retried when the cache allows it, also later than usual", async ({ expect }) => {
  const { cache, edge } = connect();
  Object.assign(edge, { isUp: false, retryAfterSeconds: 3 });
  await cache.invalidate(["a"]);
  await expect.poll(() => edge.attempts, { interval: 10 }).toBe(1);
  const refusedAt = performance.now();
  edge.isUp = true;
  await expect.poll(() => edge.purged, { timeout: 10_000 }).toMatchObject([{ tags: ["a"] }]);
  expect(performance.now() - refusedAt).toBeGreaterThan(2500);
});

test.concurrent.for<[string, (cache: { close: () => Promise<unknown> }) => unknown]>([
  ["edits", () => {}],
  ["edits before the shutdown", (cache) => cache.close()],
])("each purge has as many tags as the cache accepts: %s", async ([_label, end], { expect }) => {
  const { cache, edge, read } = connect(2);
  await cache.invalidate(["a", "b", "c"], ["/1", "/2"]);
  await end(cache);
  await expect.poll(() => edge.purged).toMatchObject([{ tags: ["a", "b"] }, { tags: ["c", "/1"] }, { tags: ["/2"] }]);
  expect(edge.purged.map(({ groups, paths }) => [groups, paths])).toEqual([
    [["a", "b"], []],
    [["c"], ["/1"]],
    [[], ["/2"]],
  ]);
  expect(await read("page_cache_purge_wait_seconds")).toEqual([[0]]);
});

test.concurrent("a purge that fails isn't followed by the next tags, and doesn't lose them", async ({ expect }) => {
  const { cache, edge } = connect(1);
  edge.isUp = false;
  await cache.invalidate(["a", "b"]);
  await expect.poll(() => edge.attempts, { interval: 10 }).toBe(2);
  edge.isUp = true;
  await expect.poll(() => edge.purged, { timeout: 10_000 }).toMatchObject([{ tags: ["a"] }, { tags: ["b"] }]);
});

test.concurrent("if too much waits, every page is purged", async ({ expect }) => {
  const { cache, edge } = connect();
  await cache.invalidate(Array.from({ length: 5000 }, (_, index) => `group-${index}`));
  await expect.poll(() => edge.purged).toEqual([{ ...none, tags: [SITE] }]);
});

test.concurrent("an edit of another process isn't purged again, and one that is published late is", async ({
  expect,
}) => {
  const { cache, edge } = connect();
  let receive = (_message: string) => {};
  const publish = vi.fn().mockRejectedValueOnce(new Error("down")).mockResolvedValue(2);
  cache.connect({
    publish,
    subscribe: (onMessage) => {
      receive = onMessage;
    },
  });
  receive(JSON.stringify({ from: "other", groups: ["a"], paths: [] }));
  await setTimeout(BATCH_MS);
  expect(edge.attempts).toBe(0);
  // Until the others are told, they may send old pages to the cache in front.
  await cache.invalidate(["b"]);
  await expect.poll(() => edge.purged).toMatchObject([{ tags: ["b"] }, { tags: ["b"] }]);
  expect(publish).toHaveBeenCalledTimes(2);
});

test.concurrent.for<[string, boolean, object[], string[]]>([
  ["sends what waits", true, [{ tags: ["a"] }], []],
  ["logs what is lost", false, [], ["cache in front not purged", "purges lost: purge the cache in front"]],
])("the shutdown %s", async ([_label, isUp, purged, logged], { expect }) => {
  const { cache, edge, lines } = connect();
  edge.isUp = isUp;
  await cache.invalidate(["a"]);
  await cache.close();
  expect(edge.purged).toMatchObject(purged);
  expect(lines).toEqual(logged);
});
