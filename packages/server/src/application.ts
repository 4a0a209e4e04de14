import type { Server } from "node:http";
import type { Express, RequestHandler } from "express";
import type { Logger } from "pino";
import { sameOrigin, unlessAccepted } from "./admit/check-origin.ts";
import { findUnadmitted } from "./admit/find-unadmitted.ts";
import { forwarded } from "./admit/forwarded.ts";
import type { Definition, Services } from "./define-server.ts";
import { browserReports } from "./errors/browser-reports.ts";
import { errorHandler } from "./errors/error-handler.ts";
import { readClientFiles } from "./files/client-files.ts";
import { sendFiles } from "./files/send-files.ts";
import type { Metrics } from "./operate/metrics.ts";
import { type Connections, type Limits, protectFromOverload } from "./overload/index.ts";
import type { Cache } from "./page-cache/cache.ts";
import { pageCache } from "./page-cache/page-cache.ts";
import { createRevalidation } from "./page-cache/revalidate.ts";
import { receive } from "./receive/receive.ts";
import { compression } from "./render/compression.ts";
import { createContextFactory } from "./render/context.ts";
import { createGetLoadContext } from "./render/load-context.ts";
import { createAnonymousRender } from "./render/render-anonymously.ts";
import { checkRoutes } from "./routes/check-routes.ts";
import type { Pages } from "./routes/pages.ts";
import { policyOfSettings } from "./security/content-security-policy.ts";
import { createSecurityHeaders } from "./security/security-headers.ts";
import type { ServerSettings } from "./start/settings.ts";

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
  const { admitBody, admit: takeSlot, renderSlots, guard, close } = overload;

  const createContext = createContextFactory({
    ...{ settings, cache, metrics, setContext: services.setContext },
    release: pages.build.assets.version,
  });
  const origin = settings.ORIGIN?.origin;
  const renderAnonymously = createAnonymousRender({ pages, createContext, securityHeaders, origin });
  const revalidation = createRevalidation({ pages, entries, renderAnonymously, renderSlots, log, metrics });

  const checkOrigin = sameOrigin(settings, log);
  const setOrigin = forwarded(trustProxy, settings.ORIGIN);
  const checkUnlessAccepted = unlessAccepted(checkOrigin);
  // One function, since TypeScript doesn't infer the parameters of a handler behind an array.
  const admit: RequestHandler = (req, res, next) =>
    takeSlot(req, res, (error) =>
      error ? next(error) : setOrigin(req, res, () => checkUnlessAccepted(req, res, next)),
    );
  const inFront = {
    receive: receive({ log, metrics, trustProxy, securityHeaders, files, pages, admitBody }),
    collectReports: [checkOrigin, ...browserReports(log, metrics, pages)],
    files: sendFiles(clientFolder, files, takeSlot),
  };
  const app = createApp({
    ...inFront,
    pageCache: pageCache(options.name, entries, revalidation),
    admit,
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
  // Reports have a body, which `receive` admits.
  const admitted = [admit, inFront.collectReports.at(-1)];
  for (const path of findUnadmitted(app, { ...inFront, admitted })) {
    log.warn(`the handler of ${path} has no load shedding: put admit in front of it`);
  }
  return { app, guard, renderAll: revalidation.renderAll, close };
}
