import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { storeResponse } from "../../http/stored-response.ts";
import type { RouteEntry } from "../../locals.ts";
import { createCacheMetrics } from "./cache-metrics.ts";
import { type CacheChannel, createCache } from "./invalidation.ts";

const ROUTE = { pattern: "/:page", cacheRule: {} } as RouteEntry;

/** A cache with an entry at each path, whose channel has published these messages. It publishes while `isUp`. */
function connect(paths: string[] = [], groups: string[] = []) {
  const shutdown = new AbortController();
  const lines: string[] = [];
  const errors: string[] = [];
  const write = (line: string) => {
    const { msg, err } = JSON.parse(line);
    lines.push(msg);
    if (err) errors.push(err.message);
  };
  const registry = new Registry();
  const cache = createCache({
    maxBytes: 1e6,
    log: pino({ base: null, timestamp: false }, { write }),
    metrics: createCacheMetrics(registry, []),
    site: "shop",
    release: "1",
    findRoute: (path) => ({ route: ROUTE, canonicalPath: path }),
    shutdown: shutdown.signal,
  });
  const bodies = { identity: Buffer.from("page") };
  const lifetime = { fresh: 60, staleWhileRevalidate: 60, staleIfError: 0 };
  for (const path of paths) {
    const response = storeResponse({ status: 200, headers: {}, contentType: "text/plain", bodies });
    const entry = { response, cacheControl: "s-maxage=60", bodies, lifetime, groups, route: "/:page", renderedAt: 0 };
    cache.entries.store(path, entry, []);
  }
  const channel = {
    isUp: true,
    failures: 0,
    messages: [] as object[],
    async publish(message: string): Promise<unknown> {
      if (!channel.isUp) {
        channel.failures += 1;
        throw new Error("down");
      }
      const { from: _, name: __, ...invalidation } = JSON.parse(message);
      return channel.messages.push(invalidation);
    },
    subscribe(..._functions: Parameters<CacheChannel["subscribe"]>) {},
  };
  return { cache, channel, lines, errors, registry, shutdown };
}

const none = { groups: [], paths: [], prefixes: [] };

test.concurrent("failed invalidations of each kind are published once the channel is up", async ({ expect }) => {
  const { cache, channel, lines } = connect();
  cache.connect(channel);
  channel.isUp = false;
  expect(await cache.purge({ ...none, paths: ["/a"] })).toMatchObject({ others: "waiting" });
  await cache.invalidate(["b"], ["/a"]);
  await cache.purge({ ...none, prefixes: ["/c/"] });
  await expect.poll(() => channel.failures).toBeGreaterThan(2); // It is tried again, and again.
  channel.isUp = true;
  const merged = { groups: ["b"], paths: ["/a"], prefixes: ["/c/"], everything: false };
  await expect.poll(() => channel.messages).toEqual([merged]);
  await expect.poll(() => lines).toHaveLength(2);
  expect(await cache.purge({ ...none, paths: ["/d"] })).toMatchObject({ others: "published", unconfirmed: [] });
  expect(lines).toEqual(["cache invalidation not published", "cache invalidations published"]);
});

test.concurrent("an edit doesn't wait for ever for a channel that hangs", async ({ expect }) => {
  const { cache, channel } = connect();
  cache.connect({ ...channel, publish: () => new Promise(() => {}) });
  expect(await cache.purge({ ...none, groups: ["a"] })).toMatchObject({ others: "waiting" });
  expect(await cache.purge({ ...none, groups: ["a"] })).toMatchObject({ others: "waiting" });
});

test.concurrent("an invalidation that fails while another is being sent is published, too", async ({ expect }) => {
  const { cache, channel } = connect();
  cache.connect({
    ...channel,
    async publish(message) {
      await channel.publish(message);
      if (channel.messages.length === 1) await cache.invalidate(["second"]);
    },
  });
  channel.isUp = false;
  await cache.invalidate(["first"]);
  channel.isUp = true;
  await expect.poll(() => channel.messages).toMatchObject([{ groups: ["first"] }, { groups: ["second"] }]);
});

test.concurrent("if too much waits, everything expires in the other processes", async ({ expect }) => {
  const { cache, channel } = connect();
  cache.connect(channel);
  channel.isUp = false;
  for (let page = 0; page < 1000; page += 1) await cache.invalidate([], [`/page-${page}`]);
  channel.isUp = true;
  await expect.poll(() => channel.messages).toHaveLength(1);
  const [message] = channel.messages;
  expect(message).toMatchObject({ everything: true });
  expect(JSON.stringify(message).length).toBeLessThan(8000);
});

test("during the shutdown, an operator learns that nobody is told any more, and the log that it is lost", async () => {
  const { cache, channel, lines, shutdown } = connect();
  cache.connect(channel);
  channel.isUp = false;
  shutdown.abort();
  expect(await cache.purge({ ...none, groups: ["a"] })).toMatchObject({ others: "failed" });
  await cache.close();
  expect(lines.at(-1)).toBe("cache invalidations lost: purge the other processes");
});

test.each([
  ["with groups", ["a"]],
  ["without groups", []],
])("when the channel connects, a page %s is rendered again, and is sent only if that fails", (_label, groups) => {
  const { cache, channel } = connect(["/page"], groups);
  cache.connect({ ...channel, subscribe: (_onMessage, onConnection) => onConnection(true) });
  const entry = cache.entries.find("/page");
  const lifetime = entry && cache.entries.lifetimeOf(entry);
  expect(lifetime).toEqual({ fresh: 0, staleWhileRevalidate: 0, staleIfError: 60 });
});

test.each([
  ["a prefix", { prefixes: ["/shop/"] }, ["/shop"]],
  ["everything", { everything: true }, ["/shop", "/shop/a", "/Shop/b.data?c"]],
  ["a path", { paths: ["/Shop/b"] }, ["/shop", "/shop/a"]],
])("a message of another process about %s removes what it names", (_label, message, kept) => {
  const paths = ["/shop", "/shop/a", "/Shop/b.data?c"];
  const { cache, channel } = connect(paths);
  cache.connect({
    ...channel,
    subscribe: (onMessage) => onMessage(JSON.stringify({ from: "other", groups: [], paths: [], ...message })),
  });
  expect(paths.filter((path) => cache.entries.find(path))).toEqual(kept);
});

test("the log has the error of a channel that isn't connected", () => {
  const { cache, channel, errors } = connect();
  const refused = new Error("password required");
  cache.connect({ ...channel, subscribe: (_onMessage, onConnection) => onConnection(false, refused) });
  expect(errors).toEqual(["password required"]);
});

test.concurrent("operators see the state of the channel, and whether invalidations wait", async ({ expect }) => {
  const { cache, channel, registry } = connect();
  const states = [cache.describeChannel()];
  const readMetric = async () => (await registry.metrics()).match(/^page_cache_channel_connected (\d)$/m)?.[1];
  const values = [await readMetric()];
  let setConnected = (_isConnected: boolean) => {};
  channel.subscribe = (_onMessage, onConnection) => {
    setConnected = onConnection;
  };
  cache.connect(channel);
  states.push(cache.describeChannel());
  values.push(await readMetric());
  for (const isConnected of [true, false]) {
    setConnected(isConnected);
    states.push(cache.describeChannel());
    values.push(await readMetric());
  }
  expect(states).toEqual(["none", "connecting", "connected", "disconnected"]);
  expect(values).toEqual([undefined, "0", "1", "0"]);
  channel.isUp = false;
  await cache.invalidate(["a"]);
  expect(cache.describeChannel()).toBe("disconnected, invalidations wait to be published");
  channel.isUp = true;
  await expect.poll(() => cache.describeChannel()).toBe("disconnected");
});

test("operators see the largest entries and the oldest", () => {
  const { cache } = connect();
  const add = (path: string, bytes: number, renderedAt: number) => {
    const bodies = { identity: Buffer.alloc(bytes) };
    const response = storeResponse({ status: 200, headers: {}, contentType: "text/plain", bodies });
    const lifetime = { fresh: 60, staleWhileRevalidate: 60, staleIfError: 0 };
    cache.entries.store(path, { response, cacheControl: "", bodies, lifetime, groups: [], route: "/", renderedAt }, []);
  };
  for (const [path, bytes, age] of [
    ["/small", 1, 20],
    ["/large", 1000, 10],
    ["/old", 100, 30],
  ] as const)
    add(path, bytes, performance.now() - age * 1000);
  const { largest, oldest } = cache.entries.listExtremes(2);
  expect(largest.map(({ key }) => key)).toEqual(["/large", "/old"]);
  expect(oldest.map(({ key }) => key)).toEqual(["/old", "/small"]);
});
