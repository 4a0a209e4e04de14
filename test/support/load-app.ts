import { createServer } from "node:http";
import { pino } from "pino";
import type * as App from "../../server/app.ts";
import { createLimits } from "../../server/limits.ts";
import type { Metrics } from "../../server/ops/metrics.ts";
import type * as Services from "../../server/services.ts";
import { parseSettings } from "../../server/settings.ts";
import { SERVER_ENV } from "./start-server.ts";

type Part = [part: string, route: string, seconds: number];
type Options = { env?: Record<string, string>; cachesPages?: boolean };

/** Loads the application of a build without a port, with its log lines and its measurements. */
export async function loadApp(folder: string, { env = {}, cachesPages = true }: Options = {}) {
  const { createApp, createCache, createMetrics } = (await import(`${folder}/build/server/app.js`)) as typeof App;
  const { openServices, SettingsSchema } = (await import(`${folder}/build/server/services.js`)) as typeof Services;
  const parsed = parseSettings(SettingsSchema, { ...SERVER_ENV, ...env });
  if ("faults" in parsed) throw new Error(parsed.faults.join());
  const lines: { level: number; msg: string; file?: string }[] = [];
  const renders: string[] = [];
  const parts: Part[] = [];
  const limits = createLimits(parsed.settings);
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const metrics: Metrics = {
    ...createMetrics([], limits),
    recordPart: (...part) => parts.push(part),
    recordRender: (result) => renders.push(result),
  };
  const cache = createCache({ maxBytes: limits.PAGE_CACHE_MAX_BYTES, log, metrics });
  const { settings } = parsed;
  const shutdown = new AbortController().signal;
  const services = await openServices({ settings, log, server: createServer(), shutdown, cache });
  const app = await createApp({
    ...services,
    settings,
    limits,
    log,
    cache,
    metrics,
    shutdown,
    clientFolder: `${folder}/build/client`,
    cachesPages,
  });
  return { app, cache, lines, renders, parts };
}
