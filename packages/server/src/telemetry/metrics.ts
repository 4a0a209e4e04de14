import { Counter, Gauge, type Registry } from "prom-client";

// Each part declares its own metrics. These helpers create them on the registry of the server.

/** Creates a counter without labels. Returns a function that adds to it. */
export function count(registry: Registry, name: string, help: string) {
  const counter = new Counter({ name, help, registers: [registry] });
  return (added = 1) => counter.inc(added);
}

type Labelled<Value> = { name: string; help: string; label: string; values: readonly Value[] };

/**
 * Creates a counter by one label with known values. Returns a function that adds 1. Each series starts at 0: otherwise
 * `increase()` would miss its first event.
 */
export function countBy<Value extends string | number>(
  registry: Registry,
  { name, help, label, values }: Labelled<Value>,
) {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value: Value) => counter.inc({ [label]: value });
}

/** Creates a gauge that is read at each scrape. */
export function gauge(registry: Registry, name: string, help: string, read: () => number) {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
