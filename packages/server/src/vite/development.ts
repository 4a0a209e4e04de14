import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type InlineConfig, isRunnableDevEnvironment, type Plugin, type ViteDevServer } from "vite";
import { describePortInUse } from "../process/port-in-use.ts";
import { loadEnvFile } from "../settings/settings.ts";
import { DEFINITION } from "./entries.ts";
import { enginePath } from "./paths.ts";
import type { Loaded, Running } from "./run.ts";

/** Tailwind registers hooks (`module.register()`) that make `import` slower than `require`. */
const require = createRequire(import.meta.url);

/** Developers take longer to open a page. An earlier request isn't delayed. */
const WARM_UP_DELAY_MS = 500;

/** Sends every request of development through server.ts. Loads the site again after an edit. */
export function serveApp(): Plugin {
  return {
    name: "react-router-express-server:development",
    apply: "serve",
    config({ server, configFile }: InlineConfig) {
      // React Router's second server has no config file. A build has one, and doesn't read the variables.
      if (configFile === false) return;
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
      // After an edit, Vite evaluates every module of the site again, so the services are opened again, too.
      const loadApp = async () => {
        // Node loads the engine once, and Vite the site: an edit evaluates the site alone.
        const { run }: typeof import("./run.ts") = require(enginePath("vite/run"));
        const loaded = await ssr.runner.import<Loaded>(DEFINITION);
        if (loaded === running?.loaded) return running;
        await running?.close();
        running = undefined;
        running = await run(loaded);
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
          vite.config.logger.error(String(error?.stack ?? error));
          socket.destroy();
        });
      });
      // Not earlier, since Vite's own plugins aren't ready before.
      vite.httpServer?.once("listening", () =>
        load()
          .then(({ loaded }) => setTimeout(warmUp, WARM_UP_DELAY_MS, vite, loaded).unref())
          .catch(({ message }) => vite.config.logger.error(message)),
      );
      vite.httpServer?.once("close", () => running?.close());
      warnOfPortInUse(vite);
      return () =>
        vite.middlewares.use((req, res, next) => {
          req.url = req.originalUrl ?? req.url; // Vite has removed its `base`.
          load()
            .then(({ app }) => app(req as never, res as never, next))
            .catch(next); // Without it, an error of the application would end the process.
        });
    },
  };
}

/** Transforms the modules of every page, so that the first page hydrates sooner. */
function warmUp({ config, environments }: ViteDevServer, { site }: Loaded) {
  const { entry, routes } = site.build.assets;
  for (const module of [entry.module, routes.root?.module]) {
    // The manifest's URLs have Vite's `base`, and its environments take them without.
    if (module) environments.client.warmupRequest(module.replace(config.base, "/"));
  }
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
