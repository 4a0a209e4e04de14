import { STATUS_CODES } from "node:http";
import { Counter, Histogram, type Registry } from "prom-client";

/** The methods of OpenTelemetry's HTTP conventions. Any other is `_OTHER`. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
/** The conventions' buckets, and shorter ones: a cached page takes less than 0.1 ms. */
const BUCKETS_SECONDS = [
  0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1,
  2.5, 5, 7.5, 10,
];
/** Series start at 0: otherwise `rate()` would miss their first request. */
const INITIAL_STATUSES = [200, 500];
/** The most routes of mounted routers. A client can add one if a router is mounted at a path with parameters. */
const MAX_MOUNTED_ROUTES = 100;
/** A client that leaves sooner may have followed another link. */
const MIN_ABANDONED_SECONDS = 1;

/**
 * Measures requests by OpenTelemetry's HTTP conventions. The number of label values has a limit, whatever clients send.
 * `routes` are the known ones. Returns a function that records a request; its status is undefined if no response head
 * was sent. `waited` is true if the client left while it waited for the response, or for the rest of a page.
 */
export function measureRequests(registry: Registry, routes: string[]) {
  const duration = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["http_request_method", "http_response_status_code", "http_route", "error_type"] as const,
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const abandoned = new Counter({
    name: "requests_abandoned_total",
    help: "Clients that left after a second or more, without the response or the rest of a page.",
    labelNames: ["http_route"] as const,
    registers: [registry],
  });
  const knownRoutes = new Set(routes);
  const toRoute = (route: string) => {
    if (!knownRoutes.has(route) && knownRoutes.size < routes.length + MAX_MOUNTED_ROUTES) {
      knownRoutes.add(route);
      abandoned.inc({ http_route: route }, 0);
    }
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
    abandoned.inc({ http_route: route }, 0);
    for (const status of INITIAL_STATUSES) duration.zero(toLabels("GET", status, route));
  }
  return (
    method: string,
    status: number | undefined,
    route: string | undefined,
    errorType: string | undefined,
    seconds: number,
    waited: boolean,
  ) => {
    const labels = toLabels(method, status, route, errorType);
    duration.observe(labels, seconds);
    if (waited && seconds >= MIN_ABANDONED_SECONDS) abandoned.inc({ http_route: labels.http_route });
  };
}

export type RecordRequest = ReturnType<typeof measureRequests>;
