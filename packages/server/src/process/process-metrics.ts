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

/** Exposes whether the process is ready. `isReady` is read at each scrape. */
export function measureReadiness(registry: Registry, isReady: () => boolean) {
  gauge(registry, "app_ready", "1 if ready, and the last check of services succeeded; otherwise 0.", () =>
    Number(isReady()),
  );
}
