import { pino } from "pino";
import type * as App from "../../server/app.ts";
import { parseSettings, ServerSettingsSchema } from "../../server/settings.ts";

type Options = { env?: Record<string, string>; cachesPages?: boolean };

/** Loads the application of a build, to be handled without a port, what it logs, and what it says of its page cache. */
export async function loadApp(folder: string, { env = {}, cachesPages = true }: Options = {}) {
  const { createApp } = (await import(`${folder}/build/server/app.js`)) as typeof App;
  const parsed = parseSettings(ServerSettingsSchema, env);
  if ("faults" in parsed) throw new Error(parsed.faults.join());
  const lines: { level: number; msg: string; file?: string }[] = [];
  const renders: string[] = [];
  const stored = { pages: 0, bytes: 0 };
  const app = await createApp({
    settings: parsed.settings,
    log: pino({}, { write: (line) => lines.push(JSON.parse(line)) }),
    metrics: {
      recordRequest() {},
      recordLookup() {},
      recordRender: (result) => renders.push(result),
      recordStored: (pages, bytes) => Object.assign(stored, { pages, bytes }),
    },
    shutdown: new AbortController().signal,
    setContext() {},
    clientFolder: `${folder}/build/client`,
    cachesPages,
  });
  return { app, lines, renders, stored };
}
