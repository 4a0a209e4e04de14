import { getHeapStatistics } from "node:v8";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { gauge } from "../telemetry/metrics.ts";

/** `nodejs_active_resources` has what these count. */
const REPEATED = ["handles", "handles_total", "requests", "requests_total"].map((name) => `nodejs_active_${name}`);

type Build = { version: string; revision: string };

/** Exposes the release, the heap's limit, and prom-client's metrics of the process. */
export function measureProcess(registry: Registry, { version, revision }: Build) {
  const labelNames = ["version", "revision"];
  new Gauge({ name: "app_build_info", help: "Always 1.", labelNames, registers: [registry] })
    .labels({ version, revision })
    .set(1);
  gauge(registry, "nodejs_heap_size_limit_bytes", "The largest heap, in bytes.", () => {
    return getHeapStatistics().heap_size_limit;
  });
  collectDefaultMetrics({ register: registry });
  for (const name of REPEATED) registry.removeSingleMetric(name);
}

/** Exposes what `/readyz` returns, and whether the services are ready. Both are read at each scrape. */
export function measureReadiness(registry: Registry, isReady: () => boolean, areServicesReady: () => boolean) {
  gauge(registry, "app_ready", "1 if `/readyz` returns 200; otherwise 0.", () => Number(isReady()));
  gauge(registry, "services_ready", "0 while the checks of services fail; otherwise 1.", () =>
    Number(areServicesReady()),
  );
}
