import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { isRunnableDevEnvironment, type Plugin, type ViteDevServer } from "vite";
import type { CreateServer } from "../create-server.ts";
import type { Services, Site } from "../define-server.ts";
import { createLimits } from "../overload/index.ts";
import { describePortInUse } from "../process/port-in-use.ts";
import { superviseServices } from "../process/supervision.ts";
import { createSettingsSchema, loadEnvFile, parseSettings } from "../settings/settings.ts";
import { createTextLog } from "../telemetry/log.ts";
import { SITE } from "./entries.ts";

type Module = { site: Site; createServer: CreateServer };

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
        const upgrade = async () => (running?.upgrade ? running.upgrade(req, socket, head) : socket.destroy());
        upgrade().catch((error) => {
          vite.config.logger.error(error.stack);
          socket.destroy();
        });
      });
      // Not earlier, since Vite's own plugins aren't ready before.
      vite.httpServer?.once("listening", () => load().catch(({ message }) => vite.config.logger.error(message)));
      vite.httpServer?.once("close", () => running?.close());
      warnOfPortInUse(vite);
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

/** Vite then takes the next port, and doesn't name the process. */
function warnOfPortInUse({ httpServer, config }: ViteDevServer) {
  const { port } = config.server;
  httpServer?.once("listening", () => {
    const isTaken = port > 0 && (httpServer.address() as AddressInfo).port !== port;
    if (isTaken) config.logger.warn(`Port ${port} ${describePortInUse(port)}`);
  });
}

type Running = Awaited<ReturnType<typeof run>>;

async function run(module: Module) {
  const { site, createServer } = module;
  const { settings } = parseSettings(createSettingsSchema(site.definition), process.env);
  const log = createTextLog(settings.LOG_LEVEL);
  // No entry fits, so that every request shows changes.
  const limits = { ...createLimits(settings), PAGE_CACHE_MAX_BYTES: 1 };
  const server = await createServer({ site, settings, limits, log, registry: new Registry() });
  let services: Services = {};
  const closeServices = () => {
    server.shutdown.abort();
    return superviseServices(services, log).close();
  };
  try {
    services = await server.openServices();
    const { app, close } = server.createApplication(services);
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
