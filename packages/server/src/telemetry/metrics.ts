import { STATUS_CODES } from "node:http";
import { getHeapStatistics } from "node:v8";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { LimitName, Limits } from "../overload/index.ts";

/** The methods of OpenTelemetry's HTTP conventions. Any other is `_OTHER`. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
/** The conventions' buckets, and shorter ones: a cached page takes less than 0.1 ms. */
const BUCKETS_SECONDS = [
  ...[0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025],
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
];
/** Series start at 0: otherwise `rate()` would miss their first request. */
const INITIAL_STATUSES = [200, 500];
const CACHE_RESULTS = ["hit", "stale", "miss"];
const PARSER_STATUSES = [400, 405, 408, 413, 431];
/** The most routes of mounted routers. A client can add one if a router is mounted at a path with parameters. */
const MAX_MOUNTED_ROUTES = 100;

type Options = {
  /** The routes whose series start at 0. */
  routes: string[];
  limits: Limits;
  version: string;
  /** The commit. */
  revision: string;
};

/**
 * Metrics for Prometheus. Those of requests follow OpenTelemetry's HTTP conventions. The number of label values has a
 * limit, whatever clients send.
 */
export function createMetrics({ routes, limits, version, revision }: Options) {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({ name: "app_build_info", help: "Always 1.", labelNames: ["version", "revision"], registers })
    .labels({ version, revision })
    .set(1);
  const duration = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["http_request_method", "http_response_status_code", "http_route", "error_type"] as const,
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const lookups = new Counter({
    name: "page_cache_requests_total",
    help: "Responses of cached routes: a fresh cache entry (hit), a stale one, or neither (miss).",
    labelNames: ["result", "http_route"],
    registers,
  });
  const knownRoutes = new Set(routes);
  const toRoute = (route: string) => {
    if (knownRoutes.size < routes.length + MAX_MOUNTED_ROUTES) knownRoutes.add(route);
    return knownRoutes.has(route) ? route : "_OTHER";
  };
  /** In Prometheus, an empty label is the same as none. */
  const toLabels = (method: string, status: number | undefined, route = "", errorType = "") => ({
    http_request_method: METHODS.has(method) ? method : "_OTHER",
    http_response_status_code: status === undefined ? "" : status in STATUS_CODES ? status : "_OTHER",
    http_route: toRoute(route),
    error_type: errorType,
  });
  for (const route of routes) {
    for (const status of INITIAL_STATUSES) duration.zero(toLabels("GET", status, route));
    for (const result of CACHE_RESULTS) lookups.inc({ result, http_route: route }, 0);
  }
  const parts = new Histogram({
    name: "react_router_duration_seconds",
    help: "Time that loaders, actions and renders take, until they have ended.",
    labelNames: ["part", "http_route"] as const,
    buckets: BUCKETS_SECONDS.filter((seconds) => seconds >= 0.00025),
    registers,
  });

  const reports = new Counter({
    name: "browser_reports_total",
    help: "Reports of browsers, by type, and for violations of the Content-Security-Policy by directive.",
    labelNames: ["type", "directive"],
    registers,
  });

  /** A counter without labels. Returns a function that adds to it. */
  const count = (name: string, help: string) => {
    const counter = new Counter({ name, help, registers });
    return (added = 1) => counter.inc(added);
  };
  /** A counter by one label with known values. Returns a function that adds 1. */
  const countBy = <Value extends string | number>(
    label: string,
    values: readonly Value[],
    name: string,
    help: string,
  ) => {
    const counter = new Counter({ name, help, labelNames: [label], registers });
    for (const value of values) counter.inc({ [label]: value }, 0);
    return (value: Value) => counter.inc({ [label]: value });
  };
  const readGauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  readGauge("nodejs_heap_size_limit_bytes", "The largest heap, in bytes.", () => getHeapStatistics().heap_size_limit);
  const limit = new Gauge({
    name: "server_limit",
    help: "The limits of the server, by the setting's name.",
    labelNames: ["setting"],
    registers,
  });
  for (const [setting, value] of Object.entries(limits)) limit.set({ setting }, value);
  const usage = new Map<LimitName, () => number>();
  new Gauge({
    name: "server_limit_usage",
    help: "How much of each limit is in use.",
    labelNames: ["setting"],
    registers,
    collect() {
      for (const [setting, read] of usage) this.set({ setting }, read());
    },
  });
  const channelConnected = new Gauge({
    name: "page_cache_channel_connected",
    help: "1 if invalidations of other processes arrive.",
    registers,
  });

  return {
    registry,
    recordConnectionDropped: countBy(
      "reason",
      ["limit", "stalled", "idle", "pipelined", "small_chunks"],
      "connections_dropped_total",
      "Connections that the server closed: at the limit, stalled, idle, with too many pipelined requests, or with a body in small chunks.",
    ),
    recordShed: countBy(
      "reason",
      ["queue", "slow_client", "timeout"],
      "requests_shed_total",
      "Requests shed: too many waited, one waited for too long, its client was too slow, or no handler responded.",
    ),
    measureUsage: (name: LimitName, read: () => number) => void usage.set(name, read),
    recordParserRejection: countBy(
      "status",
      PARSER_STATUSES,
      "http_parser_rejections_total",
      "Requests that the parser rejected, by the status sent.",
    ),
    recordLookup: (result: string, route: string) => lookups.inc({ result, http_route: route }),
    recordEviction: count("page_cache_evictions_total", "Cache entries removed because others needed the memory."),
    recordRender: countBy(
      "result",
      ["stored", "too_large", "not_cacheable", "invalidated", "failed"],
      "page_cache_renders_total",
      "Renders for the cache, by result. An invalidated one is repeated, at most twice.",
    ),
    recordInvalidation: countBy(
      "source",
      ["local", "received"],
      "page_cache_invalidations_total",
      "Invalidations, by source: this process, or the cache channel.",
    ),
    setChannelConnected: (isConnected: boolean) => channelConnected.set(Number(isConnected)),
    recordReport: (type: string, directive: string, count = 1) => reports.inc({ type, directive }, count),
    recordUpgrade: count(
      "http_upgrade_requests_total",
      "Requests for another protocol, such as WebSockets, which the services respond to.",
    ),
    recordLinesDropped: count(
      "log_lines_dropped_total",
      "Log lines dropped, since the reader stalled or standard output failed.",
    ),
    /** The status is undefined if no response head was sent. */
    recordRequest(
      method: string,
      status: number | undefined,
      route: string | undefined,
      errorType: string | undefined,
      seconds: number,
    ) {
      duration.observe(toLabels(method, status, route, errorType), seconds);
    },
    /** `part` is a loader, an action or the render. */
    recordPart: (part: string, route: string, seconds: number) => parts.observe({ part, http_route: route }, seconds),
    measureReadiness(isReady: () => boolean) {
      readGauge("app_ready", "1 if ready, and the last check of services succeeded; otherwise 0.", () =>
        Number(isReady()),
      );
    },
    measureCache(readSize: () => { entries: number; bytes: number }) {
      readGauge("page_cache_entries", "Cache entries.", () => readSize().entries);
      readGauge("page_cache_bytes", "Memory of the cache entries, in bytes.", () => readSize().bytes);
      usage.set("PAGE_CACHE_MAX_BYTES", () => readSize().bytes);
    },
    measureConnections(countConnections: () => number, countPending: () => number) {
      readGauge("http_server_active_requests", "Requests whose responses have not ended.", countPending);
      readGauge("http_server_open_connections", "Connections that clients have open.", countConnections);
      usage.set("MAX_CONNECTIONS", countConnections);
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
