import { pino } from "pino";
import type * as App from "../../server/app.ts";
import { createLimits } from "../../server/limits.ts";
import { parseSettings, ServerSettingsSchema } from "../../server/settings.ts";

type Part = [part: string, route: string, seconds: number];
type Options = { env?: Record<string, string>; cachesPages?: boolean };

/** Loads the application of a build, to be handled without a port, what it logs, and what it measures. */
export async function loadApp(folder: string, { env = {}, cachesPages = true }: Options = {}) {
  const { createApp, createCache } = (await import(`${folder}/build/server/app.js`)) as typeof App;
  const parsed = parseSettings(ServerSettingsSchema, env);
  if ("faults" in parsed) throw new Error(parsed.faults.join());
  const lines: { level: number; msg: string; file?: string }[] = [];
  const renders: string[] = [];
  const parts: Part[] = [];
  const stored = { entries: 0, bytes: 0 };
  const limits = createLimits(parsed.settings);
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const cache = createCache({
    maxBytes: limits.PAGE_CACHE_MAX_BYTES,
    log,
    metrics: {
      recordLookup() {},
      recordEviction() {},
      recordInvalidation() {},
      setChannelConnected() {},
      recordStored: (entries, bytes) => Object.assign(stored, { entries, bytes }),
    },
  });
  const app = await createApp({
    settings: parsed.settings,
    limits,
    log,
    cache,
    metrics: {
      recordRequest() {},
      recordPart: (...part) => parts.push(part),
      recordRender: (result) => renders.push(result),
      recordShed() {},
      measureUsage() {},
    },
    shutdown: new AbortController().signal,
    setContext() {},
    clientFolder: `${folder}/build/client`,
    cachesPages,
  });
  return { app, cache, lines, renders, parts, stored };
}
