import type { RequestListener } from "node:http";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { CreateServer } from "../create-server.ts";
import type { Parts, Site } from "../define-server.ts";
import { createLimits } from "../overload/index.ts";
import { createSettingsSchema, parseSettings } from "../settings/settings.ts";
import { serverEnvironment } from "./start-server.ts";

type Options = {
  /** The folder of the site, whose build is loaded. */
  folder?: string;
  env?: Record<string, string>;
  /** Replace some of the parts that `createApp` gets. */
  parts?: Partial<Parts>;
};

/**
 * Loads the application of a build without a port, for supertest, with its log lines and its metrics. Requests get the
 * base path.
 */
export async function loadApp({ folder = process.cwd(), env = {}, parts: replaced = {} }: Options = {}) {
  const file = pathToFileURL(`${folder}/build/server/site.js`).href;
  const { site, createServer }: { site: Site; createServer: CreateServer } = await import(/* @vite-ignore */ file);
  const { settings } = parseSettings(createSettingsSchema(site.definition), { ...serverEnvironment(folder), ...env });
  const lines: { level: number; msg: string; file?: string; path?: string }[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const registry = new Registry();
  const server = await createServer({
    site,
    isProduction: true, // Tests get what users get.
    settings,
    limits: createLimits(settings),
    log,
    registry,
    clientFolder: `${folder}/build/client`,
    replaced,
  });
  const services = await server.openServices();
  const { app: application, renderAll, close: closeApplication } = server.createApplication(services);
  const basePath = server.pages.base.path.slice(0, -1);
  const app: RequestListener = (req, res) => {
    req.url = basePath + req.url;
    application(req, res);
  };
  await renderAll();
  const close = async () => {
    closeApplication();
    server.shutdown.abort();
    await server.cache.close();
    await services.close?.();
  };
  return { app, cache: server.cache, lines, registry, close };
}
