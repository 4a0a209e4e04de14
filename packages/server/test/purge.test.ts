// The page cache on the operators' port.
import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { expect, test, vi } from "vitest";
import type { OpsCache } from "../src/process/ops-cache.ts";
import { createOpsServer } from "../src/process/ops-server.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const readReadiness = () => ({ isReady: true, reason: undefined });
const readStatus = async () => ({ title: "", state: "", isGood: true, sections: [] });

test("operators list the cache by route, from the start, and invalidate a group or a path", async () => {
  const { url, opsUrl, stop } = await startServer({}, SITE);
  const purge = async (query: string) => (await fetch(`${opsUrl}/cache/invalidate${query}`, { method: "POST" })).json();
  const path = "/example-pages/events";
  const rendered = (await (await fetch(`${opsUrl}/cache`)).json()) as { route: string }[];
  expect(rendered).toContainEqual(expect.objectContaining({ route: "/", entries: 1, hit: 0, hitRate: 0 }));
  for (const visit of ["", "/1", "/1.data", "/1"]) expect((await fetch(url + path + visit)).status).toBe(200);
  const routes = (await (await fetch(`${opsUrl}/cache`)).json()) as { route: string }[];
  expect(routes.find(({ route }) => route.endsWith("/events/:id"))).toEqual({
    route: "/example-pages/events/:id",
    entries: 2,
    bytes: expect.any(Number),
    oldestSeconds: expect.any(Number),
    hit: 1,
    stale: 0,
    miss: 2,
    hitRate: 0.333,
  });
  const others = "no channel";
  const keys = [`${path}/1`, `${path}/1.data`];
  expect(await purge("?group=event-1")).toEqual({ invalidated: 2, keys: expect.arrayContaining(keys), others });
  expect(await purge(`?path=${path}/`)).toEqual({ invalidated: 1, keys: [path], others });
  expect(await purge("?path=/404")).toEqual({ invalidated: 1, keys: ["/404"], others });
  expect(await purge("?group=no-such?&group=event-1")).toEqual({ invalidated: 0, keys: [], others });
  expect(await stop()).toBe(0);
});

test("operators invalidate what begins with a prefix, in any spelling, or everything", async () => {
  const { url, opsUrl, stop } = await startServer({}, SITE);
  const purge = async (query: string) =>
    (await fetch(`${opsUrl}/cache/invalidate?${query}`, { method: "POST" })).json();
  const posts = ["/example-pages/posts/1", "/example-pages/posts/1?page=2", "/example-pages/posts/2.data"];
  for (const path of posts) expect((await fetch(url + path)).status).toBe(200);
  const { keys } = await purge("prefix=/Example%252Dpages/p%256Fsts/");
  expect(keys.sort()).toEqual(posts);
  expect((await purge("prefix=/example-pages/posts/")).invalidated).toBe(0);
  expect((await purge("all")).keys).toEqual(expect.arrayContaining(["/", "/404", "/example-pages/events"]));
  expect((await purge("prefix=/")).invalidated).toBe(0);
  expect(await stop()).toBe(0);
});

test("a path with a typing error invalidates nothing, and the answer names the entry that it shows", async () => {
  const { opsUrl, stop } = await startServer({}, SITE);
  const post = async (query: string) => {
    const response = await fetch(`${opsUrl}/cache/invalidate?${query}`, { method: "POST" });
    return [response.status, await response.text()];
  };
  const mistake = "/example-pages/evnets: no cached page has this path; it shows the entry of /404\n";
  expect(await post("path=/&path=/example-pages/evnets")).toEqual([404, mistake]);
  expect(await post("path=/example-pages/slow")).toEqual([404, "/example-pages/slow: no cached page has this path\n"]);
  expect((await post("path=/"))[1]).toContain('"invalidated": 1'); // It is still there.
  expect(await stop()).toBe(0);
});

test("operators see whether a page is cached, its entries, and why its renders fail", async () => {
  const { url, opsUrl, stop } = await startServer({ POSTS: "down" }, SITE);
  const read = async (path: string) => {
    const response = await fetch(`${opsUrl}/cache?path=${path}`);
    return [response.status, await (response.ok ? response.json() : response.text())];
  };
  const path = "/example-pages/events/1";
  expect(await read(path)).toEqual([200, { path, isCached: false, entries: [], failures: [] }]);
  await (await fetch(url + path)).text();
  const entry = {
    key: path,
    status: 200,
    cacheControl: expect.stringContaining("s-maxage"),
    ageSeconds: expect.any(Number),
    groups: ["event-1"],
    bytes: expect.any(Number),
  };
  expect(await read(`${path}/`)).toEqual([200, { path, isCached: true, entries: [entry], failures: [] }]);
  const failing = "/example-pages/posts/1";
  await (await fetch(url + failing)).text();
  const failure = { key: failing, secondsAgo: expect.any(Number), result: "failed", reason: "no database" };
  expect(await read(failing)).toEqual([200, { path: failing, isCached: false, entries: [], failures: [failure] }]);
  expect(await read("/nowhere")).toEqual([404, "/nowhere: no cached page has this path; it shows the entry of /404\n"]);
  expect(await stop()).toBe(0);
});

test("operators read a page as text: errors of the log, requests and entries of this process", async () => {
  const { url, opsUrl, stop } = await startServer({ POSTS: "down" }, SITE);
  for (const path of ["/?token=secret", "/example-pages/posts/1?token=secret"]) await (await fetch(url + path)).text();
  const read = async () => (await fetch(opsUrl)).text();
  await expect.poll(read).toMatch(/^ {2}\/example-pages\/posts\/:id +1 +\d+\.\d +\d+\.\d +\d+\.\d +1 +0 %$/m);
  const text = await read();
  expect(text).toMatch(/^test-site 1\.2\.3: ready\n/);
  expect(text).toMatch(/^ {2}[\d-]+ [\d:]+ +1 {2}page not rendered: Error: no database$/m);
  expect(text).toMatch(/^Largest cache entries\n {2}Cache key +KiB +Age\n {2}\/\S+ +\d+\.\d +\d+ s$/m);
  expect(text).not.toContain("secret");
  expect(await stop()).toBe(0);
});

test.each([
  ["from the operator", "POST", "?group=a", {}, 200],
  ["from localhost", "POST", "?group=a", { Host: "localhost:3001" }, 200],
  ["with an IPv6 address", "POST", "?group=a", { Host: "[::1]:3001" }, 200],
  ["without a group or path", "POST", "", {}, 400],
  ["of a prefix without a slash", "POST", "?prefix=shop", {}, 400],
  ["of a mistyped path", "POST", "?path=/shpo", {}, 404],
  ["with another method", "GET", "?group=a", {}, 405],
  ["from the page itself", "POST", "?group=a", { Host: "localhost:3001", Origin: "http://localhost:3001" }, 200],
  ["from another port's page", "POST", "?group=a", { Host: "localhost:3001", Origin: "http://localhost:3000" }, 403],
  ["from a page of no origin", "POST", "?group=a", { Origin: "null" }, 403],
  ["from another site", "POST", "?group=a", { "Sec-Fetch-Site": "cross-site" }, 403],
  ["from another port of the host", "POST", "?group=a", { "Sec-Fetch-Site": "same-site" }, 403],
  ["from a page of an old browser", "POST", "?group=a", { Origin: "http://127.0.0.1:3001" }, 403],
  ["for another host", "POST", "?group=a", { Host: "rebound.example:3001" }, 403],
] as const)("a purge %s (%s %s) has status $4", async (_label, method, query, headers, status) => {
  const purge = vi.fn(async () => ({ keys: [], others: "published" as const }));
  const cache = { purge, findMistake: () => "no such page" } as Partial<OpsCache> as OpsCache;
  const log = pino({ enabled: false });
  const server = createOpsServer({ registry: new Registry(), readReadiness, readStatus, cache, host: undefined, log });
  const path = `/cache/invalidate${query}`;
  const response = await (method === "GET" ? request(server).get(path) : request(server).post(path)).set(headers);
  expect(response.status).toBe(status);
  expect(purge).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
});

test.each([
  ["all have confirmed", "published", { confirmed: ["a", "b"], unconfirmed: [] }, 200],
  ["one hasn't confirmed", "unconfirmed", { confirmed: ["a"], unconfirmed: ["b"] }, 202],
  ["there is no channel", "no channel", {}, 200],
  ["the others will be told later", "waiting", {}, 202],
  ["the others can't be told any more", "failed", {}, 503],
] as const)(
  "if %s, a purge answers with %j, the processes %j and status %i",
  async (_label, others, processes, status) => {
    const purge = async () => ({ keys: ["/"], others, ...processes });
    const cache = { purge } as Partial<OpsCache> as OpsCache;
    const log = pino({ enabled: false });
    const server = createOpsServer({
      registry: new Registry(),
      readReadiness,
      readStatus,
      cache,
      host: undefined,
      log,
    });
    const response = await request(server).post("/cache/invalidate?all");
    expect([response.status, response.body]).toEqual([status, { invalidated: 1, keys: ["/"], others, ...processes }]);
  },
);

test.each([
  ["127.0.0.1:3001", 200],
  ["greeting:3001", 200],
  ["greeting.default.svc.cluster.local:3001", 200],
  ["ops.example.org:3001", 200],
  ["rebound.example:3001", 403],
])("a request for metrics with the host %s has status %i, and a probe 200", async (host, status) => {
  const log = pino({ enabled: false });
  const cache = {} as OpsCache;
  const options = { registry: new Registry(), readReadiness, readStatus, cache, host: "ops.example.org", log };
  const server = createOpsServer(options);
  expect((await request(server).get("/metrics").set("Host", host)).status).toBe(status);
  expect((await request(server).get("/livez").set("Host", host)).status).toBe(200);
});
