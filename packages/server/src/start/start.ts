import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { collectDefaultMetrics } from "prom-client";
import { createApplication } from "../application.ts";
import { drain } from "../connections/graceful-shutdown.ts";
import { createPublicServer, listen } from "../connections/listener.ts";
import { rejectUnparsable } from "../connections/parser-errors.ts";
import { limitRate } from "../errors/limit-rate.ts";
import { messageClasses } from "../express.ts";
import { parseRequest } from "../http/request-target.ts";
import { createLog } from "../operate/log.ts";
import { createMetrics } from "../operate/metrics.ts";
import { createOpsServer } from "../operate/ops-server.ts";
import { superviseServices } from "../operate/supervision.ts";
import { type Connections, createLimits } from "../overload/index.ts";
import { createCache } from "../page-cache/cache.ts";
import { logUpgrade, toUpgradeFields } from "../receive/access-log.ts";
import { FILE_ROUTE } from "../receive/match-route.ts";
import { createPages } from "../routes/pages.ts";
import { createSecurityHeaders } from "../security/security-headers.ts";
import type { Site } from "../site.ts";
import { openServices } from "./open-services.ts";
import { failToStart, handleProcessEvents } from "./process.ts";
import { createSettingsSchema, describeSettings, loadEnvFile, parseSettings } from "./settings.ts";

/** The most log lines per second. The metric counts every rejection. */
const MAX_REJECTIONS_LOGGED = 10;
const MAX_UPGRADE_ERRORS_LOGGED = 10;

/** Starts the server of a site: reads the settings, opens the services, listens, and shuts down on a signal. */
export async function start({ definition, build, routeConfig, isProduction, name, version, revision }: Site) {
  // The modules of pages have been imported before, so pages get settings from their context, not from the environment.
  loadEnvFile();
  // The build replaces only `process.env.NODE_ENV`. tRPC reads it in another way, and would send stacks.
  const { env } = process;
  env.NODE_ENV ||= "production";
  const parsed = parseSettings(createSettingsSchema(definition), env);
  if ("faults" in parsed) failToStart(parsed.faults);
  const { settings, given, warnings } = parsed;
  const { PORT, HOST, OPS_PORT, OPS_HOST, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = settings;

  const pages = createPages(build, await routeConfig, isProduction);
  const limits = createLimits(settings);
  const routes = [FILE_ROUTE, ...pages.routes.map(({ pattern }) => pattern)];
  const open = pages.routes.filter((route) => route.acceptsCrossOrigin).map(({ pattern }) => pattern);
  const metrics = createMetrics({ routes, limits, version, revision });
  collectDefaultMetrics({ register: metrics.registry });
  const log = createLog(settings.LOG_LEVEL, limits.LOG_BUFFER_BYTES, metrics.recordLinesDropped);
  log.info(
    {
      "service.version": version,
      "vcs.ref.head.revision": revision,
      "process.runtime.version": process.version,
      settings: describeSettings(given),
      limits,
      acceptsCrossOrigin: open.length > 0 ? open : undefined,
    },
    "starting",
  );
  for (const warning of warnings) log.warn(warning);
  metrics.measureUsage("LOG_BUFFER_BYTES", () => process.stdout.writableLength);

  const shutdownController = new AbortController();
  const { signal: shutdown } = shutdownController;
  let state = "starting" as "starting" | "ready" | "closing";
  let running: { server: Server; connections: Connections } | undefined;
  let supervised: ReturnType<typeof superviseServices> | undefined;
  handleProcessEvents(log, shutDown);

  const { findRoute } = pages;
  const cache = createCache({ maxBytes: limits.PAGE_CACHE_MAX_BYTES, log, metrics, findRoute });
  const isReady = async () => state === "ready" && supervised !== undefined && (await supervised.isReady());
  metrics.measureReadiness(() => state === "ready" && supervised !== undefined && supervised.getLastResult());
  const opsServer = createOpsServer({ registry: metrics.registry, isReady, cache, host: OPS_HOST ?? HOST, log });
  // It listens before the pages are rendered, so that probes get a response.
  const opsNames = { host: OPS_HOST === undefined ? "HOST" : "OPS_HOST", port: "OPS_PORT" };
  const opsPort = await listenOrFail(opsServer, opsNames, OPS_PORT, OPS_HOST ?? HOST);

  const services = await openServices(definition, { settings, log, shutdown, cache });
  supervised = superviseServices(services, log);
  const clientFolder = join(import.meta.dirname, "../client");
  const { createApp, policySources } = definition;
  const parts = { pages, name, settings, services, limits, log, metrics, cache, shutdown, clientFolder };
  const { app, guard, renderAll } = createApplication({ createApp, policySources, ...parts });
  await renderAll();

  const securityHeaders = createSecurityHeaders(settings.STRICT_TRANSPORT_SECURITY).defaults;
  const server = createPublicServer({ keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS, ...messageClasses(app) });
  const connections = guard(server);
  metrics.measureConnections(() => connections.all.size, connections.countPending);
  connections.handleRequests(app);
  const logRejection = limitRate(MAX_REJECTIONS_LOGGED, (fields: object) =>
    log.info(fields, "request rejected by the parser"),
  );
  const logUpgradeError = limitRate(MAX_UPGRADE_ERRORS_LOGGED, (fields: object) => log.error(fields, "upgrade failed"));
  rejectUnparsable(server, connections, {
    headers: securityHeaders,
    onReject({ remoteAddress: client }, status, code) {
      metrics.recordParserRejection(status);
      logRejection({ "client.address": client, "http.response.status_code": status, "error.type": code });
    },
    upgrade: services.upgrade,
    acceptUpgrade(req) {
      if (!parseRequest(req)) return false;
      metrics.recordUpgrade();
      logUpgrade(req, { log, trustProxy: settings.TRUST_PROXY });
      return true;
    },
    onUpgradeError: (err, req) => logUpgradeError({ err, ...toUpgradeFields(req, settings.TRUST_PROXY) }),
  });
  const port = state === "starting" && (await listenOrFail(server, { host: "HOST", port: "PORT" }, PORT, HOST));
  if (state === "starting") {
    state = "ready";
    running = { server, connections };
    const tookMs = Math.round(performance.now());
    log.info({ port, opsPort, tookMs }, (await isReady()) ? "ready" : "listening");
    log.flush();
  }

  /** Resolves with true if every request was completed and the services have closed. */
  async function shutDown(reason: string) {
    state = "closing";
    log.info({ reason, delayMs: SHUTDOWN_DELAY_MS }, "shutting down: not ready");
    let cut = 0;
    if (running) {
      const { server, connections } = running;
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
}
