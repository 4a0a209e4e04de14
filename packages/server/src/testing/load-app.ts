import { pathToFileURL } from "node:url";
import { pino } from "pino";
import type { Parts } from "../define-server.ts";
import { createLimits } from "../overload/index.ts";
import { createSettingsSchema, parseSettings } from "../settings/settings.ts";
import type * as SiteModule from "../site.ts";
import { serverEnvironment } from "./start-server.ts";

type Module = typeof SiteModule & { site: SiteModule.Site };
type Part = [part: string, route: string, seconds: number];
type Options = {
  /** The folder of the site, whose build is loaded. */
  folder?: string;
  env?: Record<string, string>;
  /** Replace some of the parts that `createApp` gets. */
  parts?: Partial<Parts>;
};

/** Loads the application of a build without a port, for supertest, with its log lines and its measurements. */
export async function loadApp({ folder = process.cwd(), env = {}, parts: replaced }: Options = {}) {
  const file = pathToFileURL(`${folder}/build/server/site.js`).href;
  const { site, createApplication, createCache, createMetrics, createPages }: Module = await import(
    /* @vite-ignore */ file
  );
  const { definition, build, routeConfig, isProduction, name, version, revision } = site;
  const parsed = parseSettings(createSettingsSchema(definition), { ...serverEnvironment(folder), ...env });
  if ("faults" in parsed) throw new Error(parsed.faults.join());
  const { settings } = parsed;
  const lines: { level: number; msg: string; file?: string }[] = [];
  const renders: string[] = [];
  const parts: Part[] = [];
  const limits = createLimits(settings);
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const metrics: ReturnType<typeof createMetrics> = {
    ...createMetrics({ routes: [], limits, version, revision }),
    recordPart: (...part) => parts.push(part),
    recordRender: (result) => renders.push(result),
  };
  const pages = createPages(build, await routeConfig, isProduction);
  const { findRoute } = pages;
  const cache = createCache({ maxBytes: limits.PAGE_CACHE_MAX_BYTES, log, metrics, findRoute });
  const shutdownController = new AbortController();
  const { signal: shutdown } = shutdownController;
  const services = (await definition.openServices?.({ settings, log, shutdown, cache })) ?? {};
  const application = createApplication({
    createApp: (made) => definition.createApp({ ...made, ...replaced }),
    policySources: definition.policySources,
    ...{ pages, name, settings, services, limits, log, metrics, cache, shutdown },
    clientFolder: `${folder}/build/client`,
  });
  await application.renderAll();
  const close = async () => {
    application.close();
    shutdownController.abort();
    await services.close?.();
  };
  return { app: application.app, cache, lines, renders, parts, close };
}
