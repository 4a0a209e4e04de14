import { Histogram, type Registry } from "prom-client";
import { count, countBy, gauge, type Labelled } from "./metrics.ts";

/** Creates metrics of the site's own. Each function throws if the name is taken, or isn't one of Prometheus'. */
export function createSiteMetrics(registry: Registry) {
  return {
    /** Creates a counter. Returns a function that adds 1, or a number. */
    count: (name: string, help: string) => count(registry, name, help),
    /**
     * Creates a counter by one label. Returns a function that adds 1. A value that isn't in `values` is counted as
     * `other`, so that no visitor can make more series.
     */
    countBy<Value extends string>({ values, ...options }: Labelled<Value>) {
      const add = countBy<string>(registry, { ...options, values: { ...values, other: "none of these" } });
      return (value: Value) => add(Object.hasOwn(values, value) ? value : "other");
    },
    /** Creates a gauge that is read at each scrape. If `read` throws, or returns no number, the value is NaN. */
    gauge: (name: string, help: string, read: () => number) => gauge(registry, name, help, () => tryTo(read)),
    /** Creates a histogram of durations, whose name ends in `_seconds`. Returns a function that adds one, in seconds. */
    measure(name: string, help: string) {
      const durations = new Histogram({ name, help, registers: [registry] });
      return (seconds: number) => durations.observe(seconds);
    },
  };
}

function tryTo(read: () => number) {
  try {
    return Number(read());
  } catch {
    return Number.NaN;
  }
}

export type SiteMetrics = ReturnType<typeof createSiteMetrics>;
