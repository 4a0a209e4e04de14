import type { RequestListener } from "node:http";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { REPORTS_PATH } from "../app/report-error.ts";
import type { RenderOptions } from "./cache/render-anonymously.ts";
import { createRevalidation } from "./cache/revalidate.ts";
import { chain, type Response } from "./chain.ts";
import type { Limits } from "./limits.ts";
import { accessLog } from "./middleware/access-log.ts";
import { bodyLimit } from "./middleware/body-limit.ts";
import { browserReports } from "./middleware/browser-reports.ts";
import { cache } from "./middleware/cache.ts";
import { compression } from "./middleware/compression.ts";
import { errorHandler } from "./middleware/error-handler.ts";
import { forwarded } from "./middleware/forwarded.ts";
import { largeFiles } from "./middleware/large-files.ts";
import { loadShedding } from "./middleware/load-shedding.ts";
import { matchRoute } from "./middleware/match-route.ts";
import { rejectMalformed } from "./middleware/reject-malformed.ts";
import { render } from "./middleware/render.ts";
import { requestId } from "./middleware/request-id.ts";
import { responseHeaders } from "./middleware/response-headers.ts";
import { sameOrigin } from "./middleware/same-origin.ts";
import { staticFiles } from "./middleware/static-files.ts";
import { checkRoutes } from "./pages/check-routes.ts";
import { readClientFiles } from "./pages/client-files.ts";
import { createSecurityHeaders } from "./response/security-headers.ts";
import { createSemaphore } from "./semaphore.ts";
import { tracing } from "./tracing/tracing.ts";

export { createCache } from "./cache/cache.ts";
export { createMetrics } from "./ops/metrics.ts";

type Options = RenderOptions & {
  limits: Limits;
  /** Aborted when the server shuts down. */
  shutdown: AbortSignal;
  /** The services' middleware. */
  middleware?: RequestHandler[] | undefined;
  /** The build's files for the browser. Undefined in development, where Vite serves them. */
  clientFolder?: string;
  /** If a test sets false, React Router renders every page for each request. */
  cachesPages?: boolean;
};

/** The application as one request listener: the middleware in the order in which it runs. */
export async function createApp(options: Options) {
  const { settings, limits, log, metrics, middleware = [], clientFolder, cachesPages = true } = options;
  const { TRUST_PROXY, ORIGIN, BODY_SIZE_LIMIT_BYTES, HANDLER_TIMEOUT_MS, STRICT_TRANSPORT_SECURITY } = settings;
  const securityHeaders = createSecurityHeaders(STRICT_TRANSPORT_SECURITY);
  const { files, bytes } = readClientFiles(clientFolder, securityHeaders, limits.STATIC_FILES_MAX_BYTES);
  metrics.measureUsage("STATIC_FILES_MAX_BYTES", () => bytes);
  checkRoutes();
  const requests = createSemaphore({
    limit: limits.MAX_CONCURRENT_REQUESTS,
    maxWaiting: limits.MAX_CONNECTIONS, // About one for each connection. Renders for the cache wait here, too.
    onShed: () => metrics.recordShed("queue"),
  });
  const revalidate = await createRevalidation({ ...options, requests, securityHeaders });
  const handleError = errorHandler(log, securityHeaders);
  const app = express();
  // This middleware runs before Express, whose dispatch takes more CPU time than a response from memory.
  const listener = chain(
    [
      requestId,
      accessLog({ log, recordRequest: metrics.recordRequest, trustProxy: TRUST_PROXY }),
      rejectMalformed,
      matchRoute(files),
      staticFiles(files),
      ...(cachesPages ? [cache(options.cache.entries, revalidate)] : []),
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
  app.set("trust proxy", TRUST_PROXY); // For `req.ip`, which services use.
  app.use(responseHeaders(securityHeaders));
  if (clientFolder !== undefined) app.use(largeFiles(clientFolder, files));
  app.use(forwarded(TRUST_PROXY, ORIGIN));
  app.use(sameOrigin(settings, log));
  if (middleware.length > 0) app.use(middleware);
  app.use(bodyLimit(BODY_SIZE_LIMIT_BYTES, handleError));
  app.post(REPORTS_PATH, browserReports(log, metrics.recordReport));
  app.use(compression(limits.MAX_ENCODERS, metrics.measureUsage));
  app.use(tracing.middleware);
  app.use(render(options));
  // Express recognises error handlers by their four parameters.
  app.use(((error, req, res, _next) => handleError(error, req, res as Response)) as ErrorRequestHandler);
  return listener;
}
