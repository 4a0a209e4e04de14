import { Histogram, type Registry } from "prom-client";

const BUCKETS_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** Measures loaders, actions and renders. Returns a function that records one. */
export function measureParts(registry: Registry) {
  const duration = new Histogram({
    name: "react_router_duration_seconds",
    help: "Time that loaders, actions and renders take, until they have ended.",
    labelNames: ["part", "http_route"] as const,
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return (part: string, route: string, seconds: number) => duration.observe({ part, http_route: route }, seconds);
}

export type RecordPart = ReturnType<typeof measureParts>;
