// Three processes behind deploy/nginx.conf and deploy/haproxy.cfg, while the loaders of one route hang for many more clients than have slots.
import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { readMetric } from "./support/process-metrics.ts";
import { startProxies } from "./support/proxies.ts";
import { startServer } from "./support/start-server.ts";

const PAGES = "/example-pages";
/** Cached: one that is fresh, one that is revalidated each second, its data, and the not-found page. */
const CACHED_PATHS = [`${PAGES}/about`, `${PAGES}/kept-clock`, `${PAGES}/kept-clock.data`, "/nowhere"];
/** The server renders them for each request. */
const OTHER_PATHS = [`${PAGES}/stock/1`, `${PAGES}/sign-up`];
const SLOTS = 16;
/** A route whose requests hang has two thirds at most. */
const HUNG_SLOTS = 10;
const HANGING_CLIENTS = 300;
/** Twice as long as a request waits for a slot. */
const HUNG_MS = 10_000;

test("while the loaders of a route hang, no cached page and no other route fails behind HAProxy and nginx", async () => {
  const start = () => startServer({ MAX_CONCURRENT_REQUESTS: String(SLOTS) });
  const servers = await Promise.all([start(), start(), start()]);
  onTestFinished(() => {
    for (const { child } of servers) child.kill("SIGKILL");
  });
  const proxies = await startProxies(servers);
  for (const { url } of servers) for (const path of CACHED_PATHS) await (await fetch(url + path)).text();

  let isOver = false;
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const hanging = Array.from({ length: HANGING_CLIENTS }, async (_, client) => {
    const proxy = proxies[client % proxies.length];
    // What waits too long gets 503, and comes again.
    while (!isOver) await proxy?.send(`${PAGES}/wait/60000`, { signal: abort.signal }).catch(() => {});
  });
  const readSlots = () =>
    Promise.all(servers.map((server) => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}')));
  await expect.poll(async () => Math.min(...(await readSlots()))).toBeGreaterThanOrEqual(HUNG_SLOTS);

  const statuses: Record<string, number> = {};
  const visitors = proxies.flatMap(({ send }) =>
    [...CACHED_PATHS, ...OTHER_PATHS].map(async (path) => {
      while (!isOver) {
        const { status } = await send(path);
        const expected = path === "/nowhere" ? 404 : 200;
        const key = status === expected ? "as expected" : `${path}: ${status}`;
        statuses[key] = (statuses[key] ?? 0) + 1;
        await setTimeout(50);
      }
    }),
  );
  await setTimeout(HUNG_MS);
  expect(Math.min(...(await readSlots()))).toBeGreaterThanOrEqual(HUNG_SLOTS);
  isOver = true;
  await Promise.all(visitors);
  abort.abort();
  await Promise.all(hanging);
  console.log(statuses);
  expect(statuses).toEqual({ "as expected": expect.any(Number) });
  expect(statuses["as expected"]).toBeGreaterThan(200);
});
