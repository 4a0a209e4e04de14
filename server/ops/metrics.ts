import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../../package.json";

/** Which build this is: the commit is known where the build was told. */
export const BUILD_INFO = { version, revision: import.meta.env.REVISION ?? "unknown" };

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];
const METHODS = new Set(["GET", "HEAD", "POST"]);

/** Metrics for Prometheus. Label values come from fixed sets, whatever is asked. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ["route", "method", "status"] as const;
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer.",
    labelNames,
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  new Counter({
    name: "http_requests_total",
    help: "Requests answered.",
    labelNames,
    registers,
    // The histogram has counted them already: taken over when asked for, they cost a request nothing.
    async collect() {
      this.reset();
      const { values } = await duration.get();
      for (const { metricName, labels, value } of values) if (metricName?.endsWith("_count")) this.inc(labels, value);
    },
  });
  new Gauge({ name: "app_build_info", help: "Always 1.", labelNames: ["version", "revision"], registers })
    .labels(BUILD_INFO)
    .set(1);

  return {
    registry,
    /** Node's own metrics: event loop, memory, garbage collection. */
    collectProcessMetrics: () => collectDefaultMetrics({ register: registry }),
    recordRequest(route: string, method: string, status: number, seconds: number) {
      const labels = {
        route,
        method: METHODS.has(method) ? method : "other",
        status: STATUS_CLASSES[Math.floor(status / 100)] ?? "other",
      };
      duration.observe(labels, seconds);
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
