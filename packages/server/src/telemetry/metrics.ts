import { Counter, Gauge, type Registry } from "prom-client";

// Each part declares its own metrics. These helpers create them on the registry of the server.

/** Creates a counter without labels. Returns a function that adds to it. */
export function count(registry: Registry, name: string, help: string) {
  const counter = new Counter({ name, help, registers: [registry] });
  return (added = 1) => counter.inc(added);
}

export type Labelled<Value extends string | number> = {
  name: string;
  help: string;
  label: string;
  /** The meaning of each value, which the help shows, too. */
  values: Record<Value, string>;
};

/**
 * Creates a counter by one label with known values. Returns a function that adds 1. Each series starts at 0: otherwise
 * `increase()` would miss its first event.
 */
export function countBy<Value extends string | number>(registry: Registry, options: Labelled<Value>) {
  const { name, help, label, values } = options;
  const meanings = Object.entries(values).map(([value, meaning]) => `${value} (${meaning})`);
  const counter = new Counter({
    name,
    help: `${help} ${label}: ${meanings.join(", ")}.`,
    labelNames: [label],
    registers: [registry],
  });
  for (const value of Object.keys(values)) counter.inc({ [label]: value }, 0);
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
