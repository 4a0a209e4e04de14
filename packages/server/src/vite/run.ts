import { Registry } from "prom-client";
import { createServer } from "../create-server.ts";
import type { Site } from "../define-server.ts";
import { createLimits } from "../overload/index.ts";
import { superviseServices } from "../process/supervision.ts";
import { createSettingsSchema, parseSettings } from "../settings/settings.ts";
import { createTextLog } from "../telemetry/log.ts";

export type Loaded = { site: Site };
export type Running = Awaited<ReturnType<typeof run>>;

/** Opens the services of a site, and creates its application, for the development server. */
export async function run(loaded: Loaded) {
  const { site } = loaded;
  const { settings } = parseSettings(createSettingsSchema(site.definition), process.env);
  const log = createTextLog(settings.LOG_LEVEL);
  // No entry fits, so that every request shows changes.
  const limits = { ...createLimits(settings), PAGE_CACHE_MAX_BYTES: 1 };
  const server = await createServer({ site, isProduction: false, settings, limits, log, registry: new Registry() });
  let supervised = superviseServices({}, log);
  const closeServices = async () => {
    server.shutdown.abort();
    await server.cache.close();
    return supervised.close();
  };
  try {
    const services = await server.openServices();
    supervised = superviseServices(services, log);
    // As in production: the first check may create the tables of a database.
    await supervised.start();
    const { app, close } = server.createApplication(services);
    return {
      loaded,
      app,
      upgrade: services.upgrade,
      close() {
        close();
        return closeServices();
      },
    };
  } catch (error) {
    // The next request tries again. Otherwise each would leave services open.
    await closeServices();
    throw error;
  }
}
