import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../../package.json";

/** Which build this is: the commit is known where the build was told. */
export const BUILD_INFO = { version, revision: import.meta.env.REVISION ?? "unknown" };

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];
const DROP_REASONS = ["limit", "stalled", "pending"] as const;
const CACHE_RESULTS = ["hit", "stale", "miss"] as const;
const RENDER_RESULTS = ["kept", "not_kept", "failed"] as const;
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
  const pageLookups = new Counter({
    name: "page_cache_requests_total",
    help: "Requests for kept pages: of those in memory, fresh (hit) or stale, and of those not in memory (miss).",
    labelNames: ["result"] as const,
    registers,
  });
  const pageRenders = new Counter({
    name: "page_cache_renders_total",
    help: "Renders of pages to keep, and what came of them.",
    labelNames: ["result"] as const,
    registers,
  });
  const pages = new Gauge({ name: "page_cache_pages", help: "Pages in memory.", registers });
  const pageBytes = new Gauge({ name: "page_cache_bytes", help: "What they take, in bytes.", registers });
  for (const result of CACHE_RESULTS) pageLookups.inc({ result }, 0);
  for (const result of RENDER_RESULTS) pageRenders.inc({ result }, 0);
  for (const reason of DROP_REASONS) connectionsDropped.inc({ reason }, 0);

  return {
    registry,
    recordConnectionDropped: (reason: (typeof DROP_REASONS)[number]) => connectionsDropped.inc({ reason }),
    recordParserRejection: (status: number) => requestsRejected.inc({ status }),
    recordLookup: (result: (typeof CACHE_RESULTS)[number]) => pageLookups.inc({ result }),
    recordRender: (result: (typeof RENDER_RESULTS)[number]) => pageRenders.inc({ result }),
    recordStored(count: number, bytes: number) {
      pages.set(count);
      pageBytes.set(bytes);
    },
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
