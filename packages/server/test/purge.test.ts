// The page cache on the operators' port.
import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { createOpsServer } from "../src/process/ops-server.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

test("operators list the cache by route, from the start, and invalidate a group or a path", async () => {
  const { url, opsUrl, stop } = await startServer({}, SITE);
  const purge = async (query: string) => (await fetch(`${opsUrl}/cache/invalidate${query}`, { method: "POST" })).text();
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
  expect(await purge("?group=event-1")).toBe("2 cache entries invalidated in this process\n");
  expect(await purge(`?path=${path}/`)).toBe("1 cache entries invalidated in this process\n");
  expect(await purge("?path=/100%25")).toBe("1 cache entries invalidated in this process\n");
  expect(await purge("?group=no-such?&group=event-1")).toBe("0 cache entries invalidated in this process\n");
  expect(await stop()).toBe(0);
});

test.each([
  ["from the operator", "POST", "?group=a", {}, 200],
  ["from localhost", "POST", "?group=a", { Host: "localhost:3001" }, 200],
  ["with an IPv6 address", "POST", "?group=a", { Host: "[::1]:3001" }, 200],
  ["without a group or path", "POST", "", {}, 400],
  ["with another method", "GET", "?group=a", {}, 405],
  ["from another site", "POST", "?group=a", { "Sec-Fetch-Site": "cross-site" }, 403],
  ["from another port of the host", "POST", "?group=a", { "Sec-Fetch-Site": "same-site" }, 403],
  ["from a page of an old browser", "POST", "?group=a", { Origin: "http://127.0.0.1:3001" }, 403],
  ["for another host", "POST", "?group=a", { Host: "rebound.example:3001" }, 403],
] as const)("a purge %s (%s %s) has status $4", async (_label, method, query, headers, status) => {
  const cache = { entries: { describe: () => [] }, invalidate: vi.fn(async () => 0) };
  const log = pino({ enabled: false });
  const server = createOpsServer({ registry: new Registry(), isReady: async () => true, cache, host: undefined, log });
  const path = `/cache/invalidate${query}`;
  const response = await (method === "GET" ? request(server).get(path) : request(server).post(path)).set(headers);
  expect(response.status).toBe(status);
  expect(cache.invalidate).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
});

test.each([
  ["127.0.0.1:3001", 200],
  ["greeting:3001", 200],
  ["greeting.default.svc.cluster.local:3001", 200],
  ["ops.example.org:3001", 200],
  ["rebound.example:3001", 403],
])("a request for metrics with the host %s has status %i, and a probe 200", async (host, status) => {
  const cache = { entries: { describe: () => [] }, invalidate: async () => 0 };
  const log = pino({ enabled: false });
  const options = { registry: new Registry(), isReady: async () => true, cache, host: "ops.example.org", log };
  const server = createOpsServer(options);
  expect((await request(server).get("/metrics").set("Host", host)).status).toBe(status);
  expect((await request(server).get("/livez").set("Host", host)).status).toBe(200);
});
