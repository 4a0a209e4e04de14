import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Registry } from "prom-client";
import { createServer } from "../create-server.ts";
import type { Site } from "../define-server.ts";
import { messageClasses } from "../express.ts";
import { type Connections, createLimits } from "../overload/index.ts";
import {
  createSettingsSchema,
  describeSettings,
  loadEnvFile,
  parseSettings,
  SettingsError,
} from "../settings/settings.ts";
import { createLog } from "../telemetry/log.ts";
import { drain } from "./graceful-shutdown.ts";
import { createLastErrors } from "./last-errors.ts";
import { createPublicServer, listen, toUrl } from "./listener.ts";
import { createOpsServer } from "./ops-server.ts";
import { createStatus } from "./ops-status.ts";
import { rejectUnparsable } from "./parser-errors.ts";
import { describePortInUse } from "./port-in-use.ts";
import { measureProcess, measureReadiness } from "./process-metrics.ts";
import { failToStart, handleProcessEvents } from "./signals.ts";
import { superviseServices } from "./supervision.ts";
import { handleUpgrades } from "./upgrades.ts";

const OPS_PORT_IN_PRODUCTION = "3001";

const NOT_READY = { starting: "starting", closing: "shutting down" };

/** Starts the server of a site: reads the settings, opens the services, listens, and shuts down on a signal. */
export async function start(site: Site) {
  const { version, revision } = site;
  const { settings, given, warnings } = readSettings(site);
  const { PORT, HOST, OPS_PORT, OPS_HOST, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = settings;

  const limits = createLimits(settings);
  const registry = new Registry();
  measureProcess(registry, { version, revision });
  const lastErrors = createLastErrors();
  const { LOG_LEVEL: level } = settings;
  const { LOG_BUFFER_BYTES: maxBufferedBytes } = limits;
  const log = createLog({ level, maxBufferedBytes, registry, version, revision, onError: lastErrors.record });
  let state = "starting" as "starting" | "ready" | "closing";
  let running: { server: Server; connections: Connections } | undefined;
  let supervised: ReturnType<typeof superviseServices> | undefined;
  let needsServices = false;
  handleProcessEvents(log, shutDown);

  const clientFolder = join(import.meta.dirname, "../client");
  const { pages, cache, securityHeaders, shutdown, measureUsage, openServices, ...created } = await createServer({
    site,
    isProduction: true,
    settings,
    limits,
    log,
    registry,
    clientFolder,
  });
  measureUsage("LOG_BUFFER_BYTES", () => process.stdout.writableLength);
  const open = pages.routes.filter((route) => route.acceptsCrossOrigin.length > 0).map(({ pattern }) => pattern);
  log.info(
    {
      "process.runtime.version": process.version,
      settings: describeSettings(given),
      limits,
      acceptsCrossOrigin: open.length > 0 ? open : undefined,
    },
    "starting",
  );
  for (const reason of warnings) log.warn({ reason }, "settings warning");

  /** Once it was ready, only a site or an operator that says so takes a process out of service for its services. */
  function readReadiness() {
    const failure = supervised?.getFailure();
    const isReady = state === "ready" && (failure === undefined || (!needsServices && supervised?.hasStarted()));
    const services = failure === undefined ? undefined : `services not ready: ${failure}`;
    return { isReady: isReady === true, reason: state === "ready" ? services : NOT_READY[state] };
  }
  measureReadiness(
    registry,
    () => readReadiness().isReady,
    () => supervised?.getFailure() === undefined,
  );
  let opsPort: number | undefined;
  if (OPS_PORT !== undefined) {
    const getLastFailure = () => supervised?.getLastFailure();
    const readStatus = createStatus({ site, registry, readReadiness, getLastFailure, cache, lastErrors, given });
    const opsServer = createOpsServer({ registry, readReadiness, readStatus, cache, host: OPS_HOST ?? HOST, log });
    // It listens before the pages are rendered, so that probes get a response.
    const opsNames = { host: OPS_HOST === undefined ? "HOST" : "OPS_HOST", port: "OPS_PORT" };
    opsPort = await listenOrFail(opsServer, opsNames, OPS_PORT, OPS_HOST ?? HOST);
  }

  const services = await openServices();
  supervised = superviseServices(services, log);
  needsServices = (settings.READINESS ?? services.readiness) === "services";
  const { app, guard, renderAll } = created.createApplication(services);
  await renderAll();
  await supervised.start();

  const server = createPublicServer({ keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS, ...messageClasses(app) });
  const connections = guard(server);
  connections.handleRequests(app);
  const trustProxy = settings.TRUST_PROXY;
  const { upgrade } = services;
  const reject = rejectUnparsable(server, connections, { headers: securityHeaders.defaults, registry, log });
  // With any listener, Node no longer handles an upgrade as an ordinary request.
  if (upgrade) handleUpgrades(server, connections, { upgrade, reject, registry, log, trustProxy });
  const port = state === "starting" && (await listenOrFail(server, { host: "HOST", port: "PORT" }, PORT, HOST));
  if (state === "starting") {
    state = "ready";
    running = { server, connections };
    const tookMs = Math.round(performance.now());
    log.info({ port, basePath: pages.base.path, opsPort, tookMs }, readReadiness().isReady ? "ready" : "listening");
    log.flush();
    if (process.stdout.isTTY)
      process.stdout.write(
        `\n  ${site.name} is ready: ${toUrl(HOST, Number(port))}${pages.base.path.slice(0, -1)}\n\n`,
      );
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
      cut = await drain(server, connections, shutdown, SHUTDOWN_TIMEOUT_MS);
      if (cut > 0) log.warn({ cut }, "cut pending requests");
      await created.finishWork();
    }
    const [isClosed = true] = await Promise.all([supervised?.close(), cache.close()]);
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
      const { code, message } = error as NodeJS.ErrnoException;
      const address = `${host === undefined ? "" : `${names.host}=${host} `}${names.port}=${port}`;
      if (code !== "EADDRINUSE") failToStart([`${address} can't be listened on: ${message}`]);
      failToStart([`${address} ${describePortInUse(port)}`]);
    }
  }
}

/** Reads the settings. If one is missing or not valid, exits with a line for each. */
function readSettings({ definition }: Site) {
  try {
    // The modules of pages have been imported before, so pages get settings from their context, not from the
    // environment.
    loadEnvFile();
    const { env } = process;
    // A start by hand takes one port. NODE_ENV is for other programs, and this default alone follows it: the image and
    // the systemd unit set it.
    if (env.NODE_ENV === "production" && !env.OPS_PORT_FILE) env.OPS_PORT ||= OPS_PORT_IN_PRODUCTION;
    // The build replaces only `process.env.NODE_ENV`. tRPC reads it in another way, and would send stacks.
    env.NODE_ENV ||= "production";
    return parseSettings(createSettingsSchema(definition), env);
  } catch (error) {
    if (error instanceof SettingsError) failToStart(error.faults);
    throw error;
  }
}
