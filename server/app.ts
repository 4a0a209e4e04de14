import type { RequestListener } from "node:http";
import express, { type ErrorRequestHandler } from "express";
import type { Logger } from "pino";
import { createSecurityHeaders } from "./http/security-headers.ts";
import type { LimitName, Limits } from "./limits.ts";
import { type AccessLogOptions, accessLog, type TrustProxy } from "./middleware/access-log.ts";
import { bodyLimit } from "./middleware/body-limit.ts";
import { chain, type Response } from "./middleware/chain.ts";
import { compression } from "./middleware/compression.ts";
import { developmentPages } from "./middleware/development-pages.ts";
import { errorHandler } from "./middleware/error-handler.ts";
import { forwarded } from "./middleware/forwarded.ts";
import { largeFiles } from "./middleware/large-files.ts";
import { loadShedding, type ShedReason } from "./middleware/load-shedding.ts";
import { matchRoute } from "./middleware/match-route.ts";
import { type CacheResult, pageCache } from "./middleware/page-cache.ts";
import { rejectMalformed } from "./middleware/reject-malformed.ts";
import { render } from "./middleware/render.ts";
import { requestId } from "./middleware/request-id.ts";
import { sameOrigin } from "./middleware/same-origin.ts";
import { setSecurityHeaders } from "./middleware/security-headers.ts";
import { staticFiles } from "./middleware/static-files.ts";
import { tracing } from "./middleware/tracing.ts";
import { type ClientFiles, readClientFiles } from "./pages/client-files.ts";
import { checkRoutes } from "./pages/documents.ts";
import { createPageStore, type PageStoreOptions } from "./pages/page-store.ts";
import type { SetContext } from "./pages/render-page.ts";
import { createSemaphore } from "./semaphore.ts";

type Options = {
  log: Logger;
  metrics: PageStoreOptions["metrics"] & {
    recordPart: PageStoreOptions["recordPart"];
    recordRequest: AccessLogOptions["recordRequest"];
    recordLookup: (result: CacheResult, route: string) => void;
    recordShed: (reason: ShedReason) => void;
    measureUsage: (name: LimitName, read: () => number) => void;
  };
  limits: Limits;
  settings: {
    TRUST_PROXY: TrustProxy;
    ORIGIN?: URL | undefined;
    TRUSTED_ORIGINS: Set<string>;
    BODY_SIZE_LIMIT_BYTES: number;
    HANDLER_TIMEOUT_MS: number;
    STRICT_TRANSPORT_SECURITY: string;
  };
  /** Aborted when the server shuts down. */
  shutdown: AbortSignal;
  setContext: SetContext;
  /** The build's files for the browser; none in development, where Vite serves them. */
  clientFolder?: string;
  /** For a test that compares: without, Express and React Router render for each request what is the same for everybody. */
  cachesPages?: boolean;
};

/** The application as one request listener: the middleware in the order in which a request meets it. */
export async function createApp(options: Options) {
  const { settings, limits, log, metrics, shutdown, setContext, clientFolder, cachesPages = true } = options;
  const { TRUST_PROXY, ORIGIN, BODY_SIZE_LIMIT_BYTES, HANDLER_TIMEOUT_MS, STRICT_TRANSPORT_SECURITY } = settings;
  const securityHeaders = createSecurityHeaders(STRICT_TRANSPORT_SECURITY);
  const files: ClientFiles = clientFolder === undefined ? new Map() : readClientFiles(clientFolder, securityHeaders);
  checkRoutes();
  const requests = createSemaphore({
    limit: limits.MAX_CONCURRENT_REQUESTS,
    onShed: () => metrics.recordShed("queue"),
  });
  const storeOptions = {
    maxBytes: limits.PAGE_CACHE_MAX_BYTES,
    requests,
    origin: ORIGIN?.origin,
    securityHeaders,
    setContext,
    recordPart: metrics.recordPart,
    log,
    metrics,
  };
  const createPages = async () =>
    import.meta.env.PROD
      ? pageCache(await createPageStore(storeOptions), metrics.recordLookup)
      : developmentPages(storeOptions);
  const handleError = errorHandler(log, securityHeaders);
  const app = express();
  // What comes first needs nothing of Express, whose dispatch alone costs four times a response from memory.
  const listener = chain(
    [
      requestId,
      accessLog({ log, recordRequest: metrics.recordRequest, trustProxy: TRUST_PROXY }),
      rejectMalformed,
      matchRoute(files),
      staticFiles(files),
      ...(cachesPages ? [await createPages()] : []),
      loadShedding({
        ...metrics,
        limits,
        requests,
        maxBodyBytes: BODY_SIZE_LIMIT_BYTES,
        handlerTimeoutMs: HANDLER_TIMEOUT_MS,
      }),
    ],
    app as RequestListener,
    handleError,
  );
  app.disable("x-powered-by");
  app.use(setSecurityHeaders(securityHeaders));
  if (clientFolder !== undefined) app.use(largeFiles(clientFolder, files));
  app.use(forwarded(TRUST_PROXY, ORIGIN));
  app.use(sameOrigin(settings, log));
  app.use(bodyLimit(BODY_SIZE_LIMIT_BYTES));
  app.use(compression({ limits, measureUsage: metrics.measureUsage }));
  app.use(tracing);
  app.use(render({ log, shutdown, setContext, origin: ORIGIN?.origin, recordPart: metrics.recordPart }));
  // Express tells error handlers by their four parameters.
  app.use(((error, req, res, _next) => handleError(error, req, res as Response)) as ErrorRequestHandler);
  return listener;
}
