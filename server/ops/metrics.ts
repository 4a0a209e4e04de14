import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../../package.json";

/** Which build this is: the commit is known where the build was told. */
export const BUILD_INFO = { version, revision: import.meta.env.REVISION ?? "unknown" };

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];
const DROP_REASONS = ["limit", "stalled", "pending"] as const;
const METHODS = new Set(["GET", "HEAD", "POST"]);

/** Metrics for Prometheus. Label values come from fixed sets, whatever clients send. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: "app_build_info", help: "Always 1.", labelNames: ["version", "revision"], registers })
    .labels(BUILD_INFO)
    .set(1);
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["route", "method", "status"] as const,
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });

  const connectionsDropped = new Counter({
    name: "connections_dropped_total",
    help: "Connections closed without a response: over the limit, stalled, or with too many requests pending.",
    labelNames: ["reason"] as const,
    registers,
  });
  const requestsRejected = new Counter({
    name: "http_parser_rejections_total",
    help: "Requests that the parser rejected, by the status sent.",
    labelNames: ["status"] as const,
    registers,
  });
  const linesDropped = new Counter({
    name: "log_lines_dropped_total",
    help: "Log lines lost because nobody read them.",
    registers,
  });
  for (const reason of DROP_REASONS) connectionsDropped.inc({ reason }, 0);

  return {
    registry,
    recordConnectionDropped: (reason: (typeof DROP_REASONS)[number]) => connectionsDropped.inc({ reason }),
    recordParserRejection: (status: number) => requestsRejected.inc({ status }),
    recordLinesDropped: (lines: number) => linesDropped.inc(lines),
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
