import { Histogram, type Registry } from "prom-client";
import * as v from "valibot";

/** Longer times are errors of a clock, or of a machine that slept. */
const MAX_MS = 60_000;
const MAX_SHIFT = 10;
/** They contain the limits of "good" and "poor" values of each vital (https://web.dev/articles/vitals). */
const BUCKETS_SECONDS = [0.1, 0.2, 0.35, 0.5, 0.8, 1.2, 1.8, 2.5, 4, 6, 10];
const BUCKETS_SHIFT = [0.01, 0.05, 0.1, 0.15, 0.25, 0.5, 1];
const DURATIONS = ["LCP", "INP", "TTFB"] as const;

/** A wrong value counts as missing. */
const upTo = (max: number) => v.fallback(v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(max))), undefined);
const WebVitalsSchema = v.object({
  LCP: upTo(MAX_MS),
  INP: upTo(MAX_MS),
  TTFB: upTo(MAX_MS),
  CLS: upTo(MAX_SHIFT),
});

/**
 * Measures what browsers report of their visits, by route. `share` is the share of the reports that count. A route's
 * series start with its first visit, since each route has 52.
 */
export function measureWebVitals(registry: Registry, share: number) {
  const durations = new Histogram({
    name: "web_vitals_seconds",
    help: "Web vitals of visits that are times, by the route of the first page.",
    labelNames: ["vital", "http_route"] as const,
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const shifts = new Histogram({
    name: "web_vitals_layout_shift",
    help: "The score of a visit's layout shifts (CLS), by the route of the first page.",
    labelNames: ["http_route"] as const,
    buckets: BUCKETS_SHIFT,
    registers: [registry],
  });
  return (route: string | undefined, body: unknown) => {
    const { success, output } = v.safeParse(WebVitalsSchema, body);
    if (!success || route === undefined || Math.random() >= share) return;
    for (const vital of DURATIONS) {
      const ms = output[vital];
      if (ms !== undefined) durations.observe({ vital, http_route: route }, ms / 1000);
    }
    if (output.CLS !== undefined) shifts.observe({ http_route: route }, output.CLS);
  };
}
