import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createApp } from "./server/app.ts";
import { drain } from "./server/net/graceful-shutdown.ts";
import { createPublicServer, listen } from "./server/net/listener.ts";
import { queueRequests, type RequestQueue } from "./server/net/pipelining.ts";
import { dropSlowReaders } from "./server/net/slow-readers.ts";
import { createLog } from "./server/ops/log.ts";
import { BUILD_INFO, createMetrics } from "./server/ops/metrics.ts";
import { createOpsServer } from "./server/ops/server.ts";
import { failToStart, handleProcessEvents } from "./server/process.ts";
import { parseSettings } from "./server/settings.ts";

// From here the process is put together: nothing else has an effect by being imported.
const parsed = parseSettings(process.env);
if ("faults" in parsed) failToStart(parsed.faults);
const { PORT, HOST, OPS_PORT, LOG_LEVEL, TRUST_PROXY, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = parsed.settings;

const log = createLog(LOG_LEVEL);
log.info({ ...BUILD_INFO, node: process.version }, "starting");
const { registry, recordRequest } = createMetrics();
const server = createPublicServer();
let queue: RequestQueue | undefined;
let state: "starting" | "ready" | "closing" = "starting";

handleProcessEvents({ log, shutdown });
// The probes respond while the pages are being rendered.
const opsServer = createOpsServer(registry, () => state === "ready");
const opsPort = await listenOrFail(opsServer, "OPS_PORT", OPS_PORT);
const clientFolder = join(import.meta.dirname, "../client");
const app = await createApp({ log, recordRequest, trustProxy: TRUST_PROXY, clientFolder });
queue = queueRequests(server, app); // As server.on("request", app), but one after the other on each connection.
dropSlowReaders(server);
const port = await listenOrFail(server, "PORT", PORT);
if (state === "starting") {
  state = "ready";
  log.info({ port, opsPort, tookMs: Math.round(performance.now()) }, "ready");
  log.flush();
}

/** Resolves with whether every request was completed. */
async function shutdown(reason: string) {
  const wasReady = state === "ready";
  state = "closing";
  log.info({ reason, delayMs: SHUTDOWN_DELAY_MS }, "stopping: not ready any more");
  if (!wasReady || !queue) return true;
  await setTimeout(SHUTDOWN_DELAY_MS);
  const { connections, countPending } = queue;
  log.info({ connections: connections.size, pending: countPending(), timeoutMs: SHUTDOWN_TIMEOUT_MS }, "closing");
  const cut = await drain(server, queue, SHUTDOWN_TIMEOUT_MS);
  if (cut > 0) log.warn({ cut }, "cut pending requests");
  return cut === 0;
}

async function listenOrFail(server: Server, name: string, port: number) {
  const address = [...(HOST === undefined ? [] : [`HOST=${HOST}`]), `${name}=${port}`].join(" ");
  try {
    return await listen(server, port, HOST);
  } catch (error) {
    failToStart([`${address} can't be listened on: ${(error as Error).message}`]);
  } finally {
    // For example too many open files: one connection is lost, and not the server.
    server.on("error", (err) => log.error({ err }, "connection not accepted"));
  }
}
