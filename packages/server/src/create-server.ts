import type { Server } from "node:http";
import type { Express } from "express";
import type { Logger } from "pino";
import type { Definition, Services } from "./define-server.ts";
import { type Connections, type Limits, protectFromOverload } from "./overload/index.ts";
import { sameOrigin, unlessAccepted } from "./parts/admit/check-origin.ts";
import { forwarded } from "./parts/admit/forwarded.ts";
import { compression } from "./parts/compress/compression.ts";
import { errorHandler } from "./parts/errors/error-handler.ts";
import { readClientFiles } from "./parts/files/client-files.ts";
import { sendFiles } from "./parts/files/send-files.ts";
import type { Cache } from "./parts/page-cache/cache.ts";
import { pageCache } from "./parts/page-cache/page-cache.ts";
import { createRevalidation } from "./parts/page-cache/revalidate.ts";
import { receive } from "./parts/receive/receive.ts";
import { createContextFactory } from "./parts/render/context.ts";
import { createGetLoadContext } from "./parts/render/load-context.ts";
import { createAnonymousRender } from "./parts/render/render-anonymously.ts";
import { browserReports } from "./parts/reports/browser-reports.ts";
import type { ServerSettings } from "./settings/settings.ts";
import { checkRoutes } from "./site/check-routes.ts";
import { policyOfSettings } from "./site/content-security-policy.ts";
import type { Pages } from "./site/pages.ts";
import { createSecurityHeaders } from "./site/security-headers.ts";
import type { Metrics } from "./telemetry/metrics.ts";

type Options = {
  createApp: Definition["createApp"];
  policySources: Definition["policySources"];
  pages: Pages;
  /** The name of the site, for `Cache-Status`. */
  name: string;
  settings: ServerSettings;
  services: Services;
  limits: Limits;
  log: Logger;
  metrics: Metrics;
  cache: Cache;
  /** Aborted when the server shuts down. */
  shutdown: AbortSignal;
  /** The build's files for the browser. Undefined in development, where Vite serves them. */
  clientFolder?: string;
};

type Application = {
  app: Express;
  /** Limits the connections of a server. */
  guard: (server: Server) => Connections;
  /** Renders the cached pages without parameters. */
  renderAll: () => Promise<void>;
  close: () => void;
};

/** Creates the application of a site: makes the parts, and passes them to its `createApp`. */
export function createApplication(options: Options): Application {
  const { createApp, policySources, pages, settings, services, limits, log, metrics, cache, shutdown, clientFolder } =
    options;
  const { entries } = cache;
  const trustProxy = settings.TRUST_PROXY;

  const policy = policyOfSettings(settings, policySources);
  const securityHeaders = createSecurityHeaders(settings.STRICT_TRANSPORT_SECURITY, pages.isProduction, policy);
  checkRoutes(pages, securityHeaders);
  const { files, bytes } = readClientFiles(clientFolder, securityHeaders, limits.STATIC_FILES_MAX_BYTES);
  metrics.measureUsage("STATIC_FILES_MAX_BYTES", () => bytes);

  const handleErrors = errorHandler(log);
  const { defaults: headers } = securityHeaders;
  const overload = protectFromOverload({ limits, settings, headers, handleErrors, metrics });
  const { admitBody, admit, renderSlots, guard, close } = overload;

  const createContext = createContextFactory({
    ...{ settings, cache, metrics, setContext: services.setContext },
    release: pages.build.assets.version,
  });
  const origin = settings.ORIGIN?.origin;
  const renderAnonymously = createAnonymousRender({ pages, createContext, securityHeaders, origin });
  const revalidation = createRevalidation({ pages, entries, renderAnonymously, renderSlots, log, metrics });

  const checkOrigin = sameOrigin(settings, log);
  const app = createApp({
    receive: receive({ log, metrics, trustProxy, securityHeaders, files, pages, admitBody }),
    collectReports: [checkOrigin, ...browserReports(log, metrics, pages)],
    files: sendFiles(clientFolder, files, admit),
    pageCache: pageCache(options.name, entries, revalidation),
    admit: [admit, forwarded(trustProxy, settings.ORIGIN), unlessAccepted(checkOrigin)],
    // For handlers in front. The route of a page, such as a splat, may match their paths, too.
    checkOrigin,
    compress: compression(limits.MAX_ENCODERS, metrics.measureUsage),
    build: pages.build,
    getLoadContext: createGetLoadContext({ createContext, shutdown, log }),
    handleErrors,
    settings,
    services,
    log,
  });
  app.set("trust proxy", trustProxy);
  return { app, guard, renderAll: revalidation.renderAll, close };
}
