// Three processes that share cached pages in Redis, while Redis works and while it doesn't (docs/caching.md).
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildWithRoutes } from "./support/build-with-routes.ts";
import { createMemoryCgroup } from "./support/memory-cgroup.ts";
import { NODE_ENV, readNodeFlags } from "./support/node-flags.ts";
import { type RunningRedis, startRedis } from "./support/redis.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";
import { visitInTurn } from "./support/visit-in-turn.ts";

const SERVER = fileURLToPath(new URL("redis/server.ts", import.meta.url));
const REQUESTS = 10_000;
const CLIENTS = 4;
const DISTURBED_AT = REQUESTS / 5;
/** The requests that wait for Redis until the processes notice the fault. Every request that asks would be over 5 %. */
const MAX_DELAYED_SHARE = 0.01;
const MAX_ROUNDS = 5;
const PAGES = 2000;
const PAGES_AT_ONCE = 32;
const MEMORY_MIB = 128;
/** Its content never decreases on one machine, whichever process renders it. */
const counter = (cacheControl: string, delayMs: number) => `import { setTimeout } from "node:timers/promises";
export const headers = () => ({ "Cache-Control": "public, max-age=0, ${cacheControl}", "Cache-Groups": '"count"' });
export const loader = async () => {
  const count = process.hrtime.bigint();
  await setTimeout(${delayMs});
  return new Response(String(count));
};
`;
const ROUTES = {
  "/stale/:id": counter("s-maxage=1, stale-while-revalidate=60", 30),
  "/strict/:id": counter("s-maxage=1", 30),
  "/long/:id": counter("s-maxage=86400", 300),
  "/slow/:id": counter("s-maxage=86400", 2000),
  "/many/:id": counter("s-maxage=86400", 0),
};
const BUILD_TIMEOUT_MS = 300_000;

let folder: string;

beforeAll(async () => {
  folder = await buildWithRoutes(SERVER, ROUTES);
}, BUILD_TIMEOUT_MS);

afterAll(() => folder && rmSync(folder, { recursive: true }));

/** Starts Redis and three processes, which end with the test. */
async function startAll(env: Record<string, string> = {}) {
  const redis = await startRedis();
  onTestFinished(() => redis.kill());
  const start = (more: Record<string, string> = {}) => startServer({ REDIS_URL: redis.url, ...env, ...more }, folder);
  const servers = await Promise.all([start(), start(), start()]);
  onTestFinished(async () => {
    await Promise.all(servers.map(({ stop }) => stop()));
  });
  await expect.poll(() => sum(servers, "page_cache_channel_connected")).toBe(3);
  return { redis, servers: servers as [RunningServer, RunningServer, RunningServer], start };
}

const get = async ({ url }: RunningServer, path: string) => {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text() };
};
const getAll = async (servers: RunningServer[], path: string) =>
  (await Promise.all(servers.map((server) => get(server, path)))).map(({ text }) => text);
const countPages = async (servers: RunningServer[], path: string) => new Set(await getAll(servers, path)).size;

/** The sum of a metric's series in all processes. */
async function sum(servers: RunningServer[], series: string) {
  const texts = await Promise.all(servers.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()));
  const values = texts.flatMap((text) => text.split("\n").filter((line) => line.startsWith(`${series} `)));
  return values.reduce((total, line) => total + Number(line.slice(series.length)), 0);
}
const countErrors = (servers: RunningServer[]) => sum(servers, 'page_cache_store_total{result="error"}');

/** Requests a page from one process after the other, as a client behind a balancer. Returns the steps back in time. */
async function poll(servers: RunningServer[], path: string) {
  const steps: string[] = [];
  const pages = new Set<string>();
  const client = async (_: unknown, index: number) => {
    let last = 0n;
    for (let request = index; request < REQUESTS; request += CLIENTS) {
      const { text } = await get(servers[Math.floor(Math.random() * servers.length)] as RunningServer, path);
      const count = BigInt(text.trim());
      if (count < last) steps.push(`${last} ${count}`);
      last = count;
      pages.add(text);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { steps, pages: pages.size };
}

test.each(["/stale/1", "/strict/1"])("no client sees %s go back in time while it changes", async (path) => {
  const { servers } = await startAll();
  // If the machine is so busy that Redis took too long, the processes rendered on their own: the round doesn't count.
  for (let round = 1; ; round += 1) {
    const before = await countErrors(servers);
    const { steps, pages } = await poll(servers, path);
    if ((await countErrors(servers)) > before && round < MAX_ROUNDS) continue;
    expect(steps).toEqual([]);
    expect(pages).toBeGreaterThan(2);
    return;
  }
});

test("one process renders a page for all, an edit included", async () => {
  const { servers } = await startAll();
  expect(await countPages(servers, "/long/1")).toBe(1);
  const before = await getAll(servers, "/long/1");
  await fetch(`${servers[0].opsUrl}/cache/invalidate?group=count`, { method: "POST" });
  await expect.poll(async () => (await getAll(servers, "/long/1")).some((text) => before.includes(text))).toBe(false);
  expect(await countPages(servers, "/long/1")).toBe(1);
  expect(await sum(servers, 'page_cache_store_total{result="stored"}')).toBeGreaterThanOrEqual(2);
});

test("a process that is killed while it renders for all doesn't keep the others from it", async () => {
  const { servers } = await startAll();
  const [killed, ...others] = servers;
  const lost = get(killed, "/slow/1").catch(() => undefined);
  await expect.poll(() => sum(servers, 'page_cache_store_total{result="miss"}')).toBeGreaterThan(0);
  const waiting = others.map((server) => get(server, "/slow/1"));
  killed.child.kill("SIGKILL");
  await lost;
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
});

test("a restart of a release starts with its pages, and another release with none", async () => {
  const { servers, start } = await startAll();
  const [before] = await getAll(servers, "/long/1");
  await Promise.all(servers.map(({ stop }) => stop()));
  const [same, other] = await Promise.all([start(), start({ ORIGIN: "https://other.example" })]);
  onTestFinished(async () => {
    await Promise.all([same.stop(), other.stop()]);
  });
  expect((await get(same, "/long/1")).text).toBe(before);
  expect((await get(other, "/long/1")).text).not.toBe(before);
});

test("a restarted process with 128 MiB gets every page from the store, and renders none", async () => {
  const { redis, servers } = await startAll();
  const cgroup = createMemoryCgroup(MEMORY_MIB * 1024 ** 2);
  onTestFinished(() => cgroup?.remove());
  const [file = "", ...args] = [...(cgroup?.command ?? []), process.execPath, ...readNodeFlags(MEMORY_MIB)];
  for (let round = 1; ; round += 1) {
    const errorsBefore = await countErrors(servers);
    const getPages = async (server: RunningServer) => {
      let next = 0;
      const client = async () => {
        while (next < PAGES) expect((await get(server, `/many/${round}-${next++}`)).status).toBe(200);
      };
      await Promise.all(Array.from({ length: PAGES_AT_ONCE }, client));
    };
    await getPages(servers[0]);
    const restarted = await startServer({ ...NODE_ENV, REDIS_URL: redis.url }, folder, [file, ...args]);
    onTestFinished(async () => void (await restarted.stop()));
    await getPages(restarted);
    const errors = (await countErrors([...servers, restarted])) - errorsBefore;
    const renders = await sum([restarted], 'page_cache_renders_total{result="stored"}');
    const hits = await sum([restarted], 'page_cache_store_total{result="hit"}');
    await restarted.stop();
    if (errors > 0 && round < MAX_ROUNDS) continue;
    expect({ renders, hasAll: hits >= PAGES }).toEqual({ renders: 0, hasAll: true });
    return;
  }
});

const noMemory = async (redis: RunningRedis, policy: string) => {
  await redis.send("CONFIG", "SET", "maxmemory-policy", policy);
  await redis.send("CONFIG", "SET", "maxmemory", "1mb");
};

test.each<[string, (redis: RunningRedis) => unknown, isDown?: boolean]>([
  ["stopped", ({ child }) => child.kill("SIGSTOP")],
  ["killed", (redis) => redis.kill()],
  ["full", (redis) => noMemory(redis, "noeviction")],
  ["full, and evicts", (redis) => noMemory(redis, "allkeys-lru"), false],
  ["a replica that can't be written", (redis) => redis.send("REPLICAOF", "127.0.0.1", "1")],
])("while Redis is %s, no request fails, and as good as none is delayed", async (_label, disturb, isDown = true) => {
  const { redis, servers } = await startAll();
  const { servers: others } = await startAll();
  // Pages that take little time to render: without the channel, all are rendered each second.
  const paths = ["/stale/1", "/strict/1", "/many/1", "/"];
  const { failures, delayedShare } = await visitInTurn({
    servers,
    control: others[0],
    requests: REQUESTS,
    // Every 20th page is new.
    toPath: (request) => (request % 20 === 0 ? `/strict/${request}` : (paths[request % paths.length] ?? "/")),
    events: { [DISTURBED_AT]: () => disturb(redis) },
  });
  expect(failures).toEqual([]);
  expect(delayedShare).toBeLessThan(MAX_DELAYED_SHARE);
  if (isDown) expect(await countErrors(servers)).toBeGreaterThan(0);
});

test("while Redis is full, an edit reaches every process", async () => {
  const { redis, servers } = await startAll();
  await getAll(servers, "/long/1");
  await noMemory(redis, "noeviction");
  await expect(redis.send("SET", "a", "b")).rejects.toThrow("OOM");
  const before = await getAll(servers, "/long/1");
  const edited = await fetch(`${servers[0].opsUrl}/cache/invalidate?group=count`, { method: "POST" });
  expect(edited.status).toBe(200);
  await expect.poll(async () => (await getAll(servers, "/long/1")).some((text) => before.includes(text))).toBe(false);
});

test("after a restart of Redis without its data, the processes share pages again", async () => {
  const { redis, servers } = await startAll();
  await getAll(servers, "/long/1");
  await redis.kill();
  await expect.poll(() => sum(servers, "page_cache_channel_connected")).toBe(0);
  expect((await Promise.all(servers.map((server) => get(server, "/long/2")))).map(({ status }) => status)).toEqual([
    200, 200, 200,
  ]);
  const empty = await startRedis(redis.port);
  onTestFinished(() => empty.kill());
  await expect.poll(() => sum(servers, "page_cache_channel_connected")).toBe(3);
  let id = 3;
  await expect.poll(() => countPages(servers, `/long/${id++}`)).toBe(1);
});
