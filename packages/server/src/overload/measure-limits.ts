import { Gauge, type Registry } from "prom-client";
import type { LimitName, Limits } from "./limits.ts";

/** Registers how much of a limit is in use. */
export type MeasureUsage = (name: LimitName, read: () => number) => void;

/** Exposes the limits and their usage as metrics. Returns the function that registers a usage. */
export function measureLimits(registry: Registry, limits: Limits): MeasureUsage {
  const registers = [registry];
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
  return (name, read) => void usage.set(name, read);
}
