// Three processes behind HAProxy and nginx, while the loaders of one route hang for many more clients than have slots.
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startHaproxy } from "./support/haproxy.ts";
import { startNginx } from "./support/nginx.ts";
import { readMetric } from "./support/process-metrics.ts";
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
  const addresses = servers.map(({ url }) => `server ${new URL(url).host};`).join(" ");
  const nginx = await startNginx(`upstream pods { ${addresses} keepalive 8; }`, "proxy_pass http://pods;");
  const haproxy = await startHaproxy(servers);
  onTestFinished(async () => {
    await Promise.all([nginx.stop(), haproxy.stop()]);
    for (const { child } of servers) child.kill("SIGKILL");
  });
  const fronts = [nginx.url, haproxy.url];
  for (const { url } of servers) for (const path of CACHED_PATHS) await (await fetch(url + path)).text();

  let isOver = false;
  const abort = new AbortController();
  const hanging = Array.from({ length: HANGING_CLIENTS }, async (_, client) => {
    const url = `${fronts[client % fronts.length]}${PAGES}/wait/60000`;
    // What waits too long gets 503, and comes again.
    while (!isOver) {
      const response = await fetch(url, { signal: abort.signal }).catch(() => {});
      await response?.text().catch(() => {});
    }
  });
  const readSlots = () =>
    Promise.all(servers.map((server) => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}')));
  await expect.poll(async () => Math.min(...(await readSlots()))).toBeGreaterThanOrEqual(HUNG_SLOTS);

  const statuses: Record<string, number> = {};
  const visitors = fronts.flatMap((front) =>
    [...CACHED_PATHS, ...OTHER_PATHS].map(async (path) => {
      while (!isOver) {
        const response = await fetch(front + path);
        await response.text();
        const expected = path === "/nowhere" ? 404 : 200;
        const key = response.status === expected ? "as expected" : `${path}: ${response.status}`;
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
