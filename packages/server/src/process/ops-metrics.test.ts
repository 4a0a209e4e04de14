// The size of /metrics for a site with 20 routes.
import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { createCacheMetrics } from "../parts/page-cache/cache-metrics.ts";
import { measureRequests } from "../parts/receive/request-metrics.ts";
import { measureParts } from "../parts/render/measure-parts.ts";
import type { OpsCache } from "./ops-cache.ts";
import { createOpsServer } from "./ops-server.ts";
import { measureProcess } from "./process-metrics.ts";

/** The metrics of a process in which each route had GET and POST, its loader and action, and the usual statuses. */
function measureSite(count: number) {
  const routes = Array.from({ length: count }, (_, index) => `/shop/category-${index}/:id`);
  const registry = new Registry();
  measureProcess(registry, { version: "1", revision: "a" });
  createCacheMetrics(registry, routes);
  const [record, recordPart] = [measureRequests(registry, routes), measureParts(registry)];
  for (const route of routes) {
    for (const status of [200, 304, 404]) record("GET", status, route, undefined, 0.01, true);
    record("POST", 200, route, undefined, 0.01, true);
    for (const part of ["loader", "action", "render"]) recordPart(part, route, 0.01);
  }
  return registry;
}

async function scrape(registry: Registry, headers: Record<string, string>) {
  const server = createOpsServer({
    registry,
    readReadiness: () => ({ isReady: true, reason: undefined }),
    readStatus: async () => ({ title: "", state: "", isGood: true, sections: [] }),
    cache: {} as OpsCache,
    host: undefined,
    log: pino({ enabled: false }),
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const request = () =>
    new Promise<{ coding: string | undefined; body: Buffer }>((resolve, reject) => {
      get({ port, path: "/metrics", headers }, (res) =>
        buffer(res).then((body) => resolve({ coding: res.headers["content-encoding"], body }), reject),
      ).on("error", reject);
    });
  return Promise.all([request(), request()]); // Two scrapes at once share the metrics.
}

test("Prometheus gets the metrics of a site with 20 routes in less than 100 KB", async () => {
  const registry = measureSite(20);
  for (const { coding, body } of await scrape(registry, { "Accept-Encoding": "gzip" })) {
    expect(body.length).toBeLessThan(100_000);
    expect(coding).toBe("gzip");
    const text = gunzipSync(body).toString();
    expect(text).toContain('http_route="/shop/category-19/:id"');
    const names = text.match(/^# TYPE \S+/gm) ?? [];
    expect(names).toContain("# TYPE process_cpu_seconds_total");
    expect(names).toEqual([...new Set(names)]);
  }
});

test.each([
  ["no Accept-Encoding", {}],
  ["Accept-Encoding: identity", { "Accept-Encoding": "identity" }],
  ["Accept-Encoding: gzip;q=0", { "Accept-Encoding": "gzip;q=0" }],
])("a client that sends %s gets text", async (_what, headers: Record<string, string>) => {
  for (const { coding, body } of await scrape(measureSite(1), headers)) {
    expect(coding).toBeUndefined();
    expect(body.toString()).toMatch(/^# HELP /);
  }
});
