import type { Counter, Histogram, Registry } from "prom-client";

type Labels = Record<string, string>;

/** Collects the events of a metric from now on, in order, by their labels and value. */
export function recordMetric<Event>(
  registry: Registry,
  name: string,
  toEvent: (labels: Labels, value?: number) => Event,
) {
  const metric = registry.getSingleMetric(name) as Partial<Counter & Histogram>;
  const method = metric.observe ? "observe" : "inc";
  const record = metric[method]?.bind(metric) as (labels: Labels, value?: number) => void;
  const events: Event[] = [];
  Object.assign(metric, {
    [method](labels: Labels, value?: number) {
      events.push(toEvent(labels, value));
      record(labels, value);
    },
  });
  return events;
}
