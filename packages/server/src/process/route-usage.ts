import type { Registry } from "prom-client";

/** A look compares with one that is at least this old, so that a reload doesn't show the requests of a moment. */
const MIN_SPAN_MS = 10_000;

/** The counters of a route, by name. Of durations, the name is the upper bound in seconds. */
type Counters = Map<string, number>;
type Look = { at: number; routes: Map<string, Counters> };

export type RouteUsage = {
  route: string;
  requests: number;
  perSecond: number;
  /** In seconds. Undefined if no response was sent. */
  p50: number | undefined;
  p99: number | undefined;
  /** Responses with 5xx, and requests whose clients left without a response, after a second or more. */
  errors: number;
  /** The share of lookups that found a response. Undefined if the route isn't cached. */
  hitRate: number | undefined;
};

/** Compares the metrics of requests with those of an earlier look: nothing is measured between two looks. */
export function createRouteUsage(registry: Registry, readTime = () => performance.now()) {
  let before: Look = { at: 0, routes: new Map() };
  let last = before;

  /** Resolves with the routes that got requests, the one with the most first, and the time of the earlier look. */
  return async () => {
    const now: Look = { at: readTime(), routes: await readCounters(registry) };
    if (now.at - last.at >= MIN_SPAN_MS) {
      before = last;
      last = now;
    }
    const seconds = (now.at - before.at) / 1000;
    const routes = [...now.routes].map(([route, counters]) => {
      const earlier = before.routes.get(route);
      return describe(route, seconds, new Map([...counters].map(([name, n]) => [name, n - (earlier?.get(name) ?? 0)])));
    });
    return {
      seconds,
      isSinceStart: before.at === 0,
      routes: routes.filter(({ requests }) => requests > 0).sort((a, b) => b.requests - a.requests),
    };
  };
}

function describe(route: string, seconds: number, counters: Counters): RouteUsage {
  const read = (name: string) => counters.get(name) ?? 0;
  const requests = read("requests");
  return {
    route,
    requests,
    perSecond: requests / seconds,
    p50: findQuantile(counters, 0.5),
    p99: findQuantile(counters, 0.99),
    errors: read("errors"),
    hitRate: read("lookups") > 0 ? read("hits") / read("lookups") : undefined,
  };
}

async function readCounters(registry: Registry) {
  const routes: Look["routes"] = new Map();
  const read = async (metric: string) => (await registry.getSingleMetric(metric)?.get())?.values ?? [];
  const add = (route: unknown, name: string, value: number) => {
    const counters = routes.get(String(route)) ?? new Map();
    routes.set(String(route), counters.set(name, (counters.get(name) ?? 0) + value));
  };
  for (const { labels, value, ...sample } of await read("http_server_request_duration_seconds")) {
    const { http_route: route, http_response_status_code: status, error_type, le } = labels;
    // An aborted response says how long its client stayed.
    if (le !== undefined && !error_type) add(route, String(le), value);
    if (!("metricName" in sample) || !String(sample.metricName).endsWith("_count")) continue;
    add(route, "requests", value);
    if (Number(status) >= 500) add(route, "errors", value);
  }
  for (const { labels, value } of await read("requests_abandoned_total")) add(labels.http_route, "errors", value);
  for (const { labels, value } of await read("page_cache_requests_total")) {
    add(labels.http_route, "lookups", value);
    if (labels.result !== "miss") add(labels.http_route, "hits", value);
  }
  return routes;
}

/** A quantile in seconds, as Prometheus's `histogram_quantile` estimates it. Infinity above the largest bound. */
function findQuantile(counters: Counters, quantile: number) {
  const buckets = [...counters]
    .map(([name, count]) => ({ bound: name === "+Inf" ? Number.POSITIVE_INFINITY : Number(name), count }))
    .filter(({ bound }) => !Number.isNaN(bound))
    .sort((a, b) => a.bound - b.bound);
  const rank = quantile * (buckets.at(-1)?.count ?? 0);
  if (rank === 0) return undefined;
  const index = buckets.findIndex(({ count }) => count >= rank);
  const [lower, upper] = [buckets[index - 1] ?? { bound: 0, count: 0 }, buckets[index]];
  if (!upper || upper.bound === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  return lower.bound + ((upper.bound - lower.bound) * (rank - lower.count)) / (upper.count - lower.count);
}
