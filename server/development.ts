import { createServer, type RequestListener } from "node:http";
import { pino } from "pino";
import pretty from "pino-pretty";
import { isRunnableDevEnvironment, type Plugin } from "vite";
import type * as App from "./app.ts";
import { createLimits } from "./limits.ts";
import type * as Services from "./services.ts";
import { loadEnvFile, parseSettings } from "./settings.ts";

/** Sends every request of development through app.ts. Reloads app.ts and services.ts after an edit. */
export function serveApp(): Plugin {
  return {
    name: "serve-app",
    apply: "serve",
    config() {
      loadEnvFile();
      return { server: { port: Number(process.env.PORT || 3000) } };
    },
    async configureServer(vite) {
      const { ssr } = vite.environments;
      if (!ssr || !isRunnableDevEnvironment(ssr))
        throw new Error("Vite has no environment that can run the application");
      let services: Awaited<ReturnType<typeof open>> | undefined;
      let app: { module: typeof App; listener: RequestListener } | undefined;

      const loadServices = async () => {
        const module = await ssr.runner.import<typeof Services>("/server/services.ts");
        if (module === services?.module) return services;
        await services?.close();
        app = undefined;
        services = undefined;
        services = await open(module);
        return services;
      };
      const loadApp = async () => {
        const { services, settings, log, shutdown } = await loadServices();
        const module = await ssr.runner.import<typeof App>("/server/app.ts");
        if (module !== app?.module) {
          const limits = createLimits(settings);
          const metrics = module.createMetrics([], limits);
          // No entry fits, so that every request shows changes.
          const cache = module.createCache({ maxBytes: 1, log, metrics });
          const options = { ...services, settings, limits, log, metrics, shutdown, cache };
          app = { module, listener: await module.createApp(options) };
        }
        return app.listener;
      };

      // One load at a time. Otherwise concurrent requests would open the services twice.
      let loading: Promise<unknown> = loadServices();
      await loading;
      const load = () => {
        const loaded = loading.catch(() => {}).then(loadApp);
        loading = loaded;
        return loaded;
      };
      vite.httpServer?.on("upgrade", (req, socket, head) => {
        const isVite = req.headers["sec-websocket-protocol"]?.startsWith("vite-");
        if (!isVite && !services?.server.emit("upgrade", req, socket, head)) socket.destroy();
      });
      vite.httpServer?.once("close", () => services?.close());
      return () => vite.middlewares.use((req, res, next) => load().then((listener) => listener(req, res), next));
    },
  };
}

async function open(module: typeof Services) {
  const parsed = parseSettings(module.SettingsSchema, process.env);
  if ("faults" in parsed) throw new Error(parsed.faults.join("\n"));
  const { settings } = parsed;
  const log = pino({ level: settings.LOG_LEVEL }, pretty({ sync: true }));
  const shutdownController = new AbortController();
  const { signal: shutdown } = shutdownController;
  // Services get a server of their own, since they would reject the upgrades of Vite's client.
  const server = createServer();
  const cache = { invalidate: async () => 0, connect() {} };
  const options = { settings, log, server, shutdown, cache };
  const services = await module.openServices(options);
  const close = () => {
    shutdownController.abort();
    return services.close();
  };
  return { module, services, settings, log, server, shutdown, close };
}
