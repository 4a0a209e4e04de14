import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { collectDefaultMetrics } from "prom-client";
import { createApp } from "./server/app.ts";
import { createCache } from "./server/cache/cache.ts";
import { parseRequest } from "./server/http/request-target.ts";
import { limitRate } from "./server/limit-rate.ts";
import { createLimits } from "./server/limits.ts";
import { logUpgrade } from "./server/middleware/access-log.ts";
import { HTTP_ROUTES } from "./server/middleware/match-route.ts";
import { trackConnections } from "./server/net/connections.ts";
import { drain } from "./server/net/graceful-shutdown.ts";
import { createPublicServer, listen } from "./server/net/listener.ts";
import { rejectUnparsable } from "./server/net/parser-errors.ts";
import { createLog } from "./server/ops/log.ts";
import { BUILD_INFO, createMetrics } from "./server/ops/metrics.ts";
import { createOpsServer } from "./server/ops/server.ts";
import { superviseServices } from "./server/ops/supervision.ts";
import { failToStart, handleProcessEvents } from "./server/process.ts";
import { createSecurityHeaders } from "./server/response/security-headers.ts";
import { OVERLOADED } from "./server/semaphore.ts";
import { openServices, SettingsSchema } from "./server/services.ts";
import { describeSettings, loadEnvFile, parseSettings } from "./server/settings.ts";

/** The most log lines per second. The metric counts every rejection. */
const MAX_REJECTIONS_LOGGED = 10;

// No other server module has side effects when it is imported. The modules of pages are imported before `.env` is read,
// so pages get settings from their context (server/services.ts), not from the environment.
loadEnvFile();
const parsed = parseSettings(SettingsSchema, process.env);
if ("faults" in parsed) failToStart(parsed.faults);
const { settings, given, warnings } = parsed;
const { PORT, HOST, OPS_PORT, OPS_HOST, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = settings;

const limits = createLimits(settings);
const metrics = createMetrics(HTTP_ROUTES, limits);
collectDefaultMetrics({ register: metrics.registry });
const log = createLog(settings.LOG_LEVEL, limits.LOG_BUFFER_BYTES, metrics.recordLinesDropped);
log.info(
  {
    "service.version": BUILD_INFO.version,
    "vcs.ref.head.revision": BUILD_INFO.revision,
    "process.runtime.version": process.version,
    settings: describeSettings(given),
    limits,
  },
  "starting",
);
for (const warning of warnings) log.warn(warning);
metrics.measureUsage("LOG_BUFFER_BYTES", () => process.stdout.writableLength);
const server = createPublicServer(settings.KEEP_ALIVE_TIMEOUT_MS);
const securityHeaders = createSecurityHeaders(settings.STRICT_TRANSPORT_SECURITY);
const connections = trackConnections(server, {
  maxConnections: limits.MAX_CONNECTIONS,
  clientTimeoutMs: settings.CLIENT_TIMEOUT_MS,
  headers: { ...securityHeaders, ...OVERLOADED.headers, "Cache-Control": "no-store" },
  onDrop: metrics.recordConnectionDropped,
});
metrics.measureConnections(() => connections.all.size, connections.countPending);
const shutdownController = new AbortController();
let supervised: ReturnType<typeof superviseServices> | undefined;
let state = "starting" as "starting" | "ready" | "closing";

const cache = createCache({ maxBytes: limits.PAGE_CACHE_MAX_BYTES, log, metrics });
handleProcessEvents(log, shutDown);
const isReady = async () => state === "ready" && supervised !== undefined && (await supervised.isReady());
metrics.measureReadiness(isReady);
const opsServer = createOpsServer({ registry: metrics.registry, isReady, cache, host: OPS_HOST ?? HOST, log });
// It listens before the pages are rendered, so that probes get a response.
const opsNames = { host: OPS_HOST === undefined ? "HOST" : "OPS_HOST", port: "OPS_PORT" };
const opsPort = await listenOrFail(opsServer, opsNames, OPS_PORT, OPS_HOST ?? HOST);

const { signal } = shutdownController;
// In a variable, since TypeScript rejects a literal with more properties than the services declare.
const serviceOptions = { settings, log, server, shutdown: signal, cache };
const services = await openServices(serviceOptions);
supervised = superviseServices(services, log);

const clientFolder = join(import.meta.dirname, "../client");
const app = await createApp({ ...services, settings, limits, log, metrics, shutdown: signal, cache, clientFolder });
connections.handleRequests(app);
const logRejection = limitRate(MAX_REJECTIONS_LOGGED, (fields: object) =>
  log.info(fields, "request rejected by the parser"),
);
rejectUnparsable(server, connections, {
  headers: securityHeaders,
  onReject({ remoteAddress: client }, status, code) {
    metrics.recordParserRejection(status);
    logRejection({ "client.address": client, "http.response.status_code": status, "error.type": code });
  },
  acceptUpgrade(req) {
    if (!parseRequest(req)) return false;
    metrics.recordUpgrade();
    logUpgrade(req, { log, trustProxy: settings.TRUST_PROXY });
    return true;
  },
});
const port = state === "starting" && (await listenOrFail(server, { host: "HOST", port: "PORT" }, PORT, HOST));
if (state === "starting") {
  state = "ready";
  const tookMs = Math.round(performance.now());
  log.info({ port, opsPort, tookMs }, (await isReady()) ? "ready" : "listening");
  log.flush();
}

/** Resolves with true if every request was completed and the services have closed. */
async function shutDown(reason: string) {
  const wasReady = state === "ready";
  state = "closing";
  log.info({ reason, delayMs: SHUTDOWN_DELAY_MS }, "shutting down: not ready");
  let cut = 0;
  if (wasReady) {
    await setTimeout(SHUTDOWN_DELAY_MS);
    const [open, pending] = [connections.all.size, connections.countPending()];
    log.info({ connections: open, pending, timeoutMs: SHUTDOWN_TIMEOUT_MS }, "closing");
    cut = await drain(server, connections, shutdownController, SHUTDOWN_TIMEOUT_MS);
    if (cut > 0) log.warn({ cut }, "cut pending requests");
  }
  const isClosed = !supervised || (await supervised.close());
  return cut === 0 && isClosed;
}

/** Resolves with the port. If it can't listen, exits with one line that names the settings. */
async function listenOrFail(server: Server, names: { host: string; port: string }, port: number, host?: string) {
  try {
    const boundPort = await listen(server, port, host);
    // Accepting a connection can fail, for example with EMFILE. Without a listener, the error would end the process.
    server.on("error", (err) => log.error({ err }, "connection not accepted"));
    return boundPort;
  } catch (error) {
    const address = `${host === undefined ? "" : `${names.host}=${host} `}${names.port}=${port}`;
    failToStart([`${address} can't be listened on: ${(error as Error).message}`]);
  }
}
