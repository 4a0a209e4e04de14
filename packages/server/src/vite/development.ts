import { pino } from "pino";
import pretty from "pino-pretty";
import { isRunnableDevEnvironment, type Plugin } from "vite";
import type { Services } from "../define-server.ts";
import { superviseServices } from "../operate/supervision.ts";
import { createLimits } from "../overload/index.ts";
import type * as SiteModule from "../site.ts";
import { createSettingsSchema, loadEnvFile, parseSettings } from "../start/settings.ts";
import { SITE } from "./entries.ts";

type Module = typeof SiteModule & { site: SiteModule.Site };

/** Sends every request of development through server.ts. Loads it again after an edit. */
export function serveApp(): Plugin {
  return {
    name: "react-router-express-server:development",
    apply: "serve",
    config({ server }) {
      loadEnvFile();
      // `--port` takes precedence.
      return { server: { port: server?.port ?? Number(process.env.PORT || 3000) } };
    },
    configResolved({ server, plugins }) {
      // @vitejs/plugin-basic-ssl sets its certificate later, and keeps other options.
      if (!server.https && !plugins.some(({ name }) => name === "vite:basic-ssl")) return;
      server.https = { ...server.https, ALPNCallback: chooseHttp1 };
    },
    async configureServer(vite) {
      const { ssr } = vite.environments;
      if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite has no environment that can run the server");
      let running: Running | undefined;

      // After an edit, Vite evaluates every module again, so the services are opened again, too.
      const loadApp = async () => {
        const module = await ssr.runner.import<Module>(SITE);
        if (module === running?.module) return running;
        await running?.close();
        running = undefined;
        running = await run(module);
        return running;
      };

      // One load at a time. Otherwise concurrent requests would open the services twice.
      let loading: Promise<unknown> = Promise.resolve();
      const load = () => {
        const loaded = loading.catch(() => {}).then(loadApp);
        loading = loaded;
        return loaded;
      };
      vite.httpServer?.on("upgrade", (req, socket, head) => {
        if (req.headers["sec-websocket-protocol"]?.startsWith("vite-")) return;
        if (running?.upgrade) running.upgrade(req, socket, head);
        else socket.destroy();
      });
      // Not earlier, since Vite's own plugins aren't ready before.
      vite.httpServer?.once("listening", () => load().catch(({ message }) => vite.config.logger.error(message)));
      vite.httpServer?.once("close", () => running?.close());
      return () =>
        vite.middlewares.use((req, res, next) => {
          load()
            .then(({ app }) => app(req as never, res as never, next))
            .catch(next); // Without it, an error of the application would end the process.
        });
    },
  };
}

/**
 * With TLS, Vite would speak HTTP/2, whose requests and responses Express doesn't support: it replaces their prototypes
 * (https://github.com/expressjs/express/issues/6580).
 */
function chooseHttp1({ protocols }: { protocols: string[] }) {
  return protocols.find((protocol) => protocol === "http/1.1");
}

type Running = Awaited<ReturnType<typeof run>>;

async function run(module: Module) {
  const { site, createApplication, createCache, createMetrics, createPages } = module;
  const { definition, build, routeConfig, isProduction, name, version, revision } = site;
  const parsed = parseSettings(createSettingsSchema(definition), process.env);
  // Vite logs the error of a request, and its stack if it has one. The lines of the faults suffice.
  if ("faults" in parsed) throw Object.assign(new Error(parsed.faults.join("\n")), { stack: "" });
  const { settings } = parsed;
  const log = pino({ level: settings.LOG_LEVEL }, pretty({ sync: true }));
  const limits = createLimits(settings);
  const metrics = createMetrics({ routes: [], limits, version, revision });
  const pages = createPages(build, await routeConfig, isProduction);
  // No entry fits, so that every request shows changes.
  const cache = createCache({ maxBytes: 1, log, metrics, findRoute: pages.findRoute });
  const shutdownController = new AbortController();
  const { signal: shutdown } = shutdownController;
  let services: Services = {};
  const closeServices = () => {
    shutdownController.abort();
    return superviseServices(services, log).close();
  };
  try {
    services = (await definition.openServices?.({ settings, log, shutdown, cache })) ?? {};
    const { createApp, policySources } = definition;
    const parts = { pages, name, settings, services, limits, log, metrics, cache, shutdown };
    const { app, close } = createApplication({ createApp, policySources, ...parts });
    return {
      module,
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
