import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { answerRequests } from "./net/graceful-shutdown.ts";
import { createPublicServer } from "./net/listener.ts";
import { BUILD_INFO, type Metrics } from "./ops/metrics.ts";
import { createOperationsServer } from "./ops/server.ts";
import { refuseToStart, type Settings } from "./settings.ts";

/** Whoever reads the log has this long, in ms, to take its last lines. */
const LOG_PATIENCE = 1000;
/** npm passes on the Ctrl-C that the terminal has sent us already: within this many ms it is the same one. */
const SAME_SIGNAL = 50;

type Options = { metrics: Metrics; log: Logger; settings: Settings };

/**
 * Takes charge of the process: from now on the probes answer, and signals and bugs end it in
 * order. The public port listens once `serve` is called.
 */
export async function startLifecycle({ metrics, log, settings }: Options) {
  const { PORT, HOST, OPS_PORT, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = settings;
  log.info({ ...BUILD_INFO, node: process.version }, "starting");
  let exitCode = 0;
  let isReady = false;
  let stoppedAt: number | undefined;
  let requests: ReturnType<typeof answerRequests> | undefined;

  const stop = async (reason: string) => {
    const begun = performance.now();
    stoppedAt = begun;
    log.info({ reason, delayMs: SHUTDOWN_DELAY_MS }, "stopping: not ready any more");
    if (isReady && requests) {
      isReady = false;
      await setTimeout(SHUTDOWN_DELAY_MS);
      log.info({ ...requests.count(), timeoutMs: SHUTDOWN_TIMEOUT_MS }, "closing");
      const cut = await requests.drain(SHUTDOWN_TIMEOUT_MS);
      if (cut > 0) {
        exitCode = 1;
        log.warn({ cut }, "cut what was still unanswered");
      }
    }
    log.info({ exitCode, tookMs: Math.round(performance.now() - begun) }, "stopped");
    await Promise.race([new Promise<unknown>((resolve) => log.flush(resolve)), setTimeout(LOG_PATIENCE)]);
    process.exit(exitCode);
  };

  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      if (stoppedAt === undefined) return stop(signal);
      if (performance.now() - stoppedAt < SAME_SIGNAL) return;
      log.warn({ signal }, "exiting at once");
      process.exit(1);
    });
  }
  // Unhandled rejections arrive here too; their origin says so.
  let isBroken = false;
  process.on("uncaughtException", (err, origin) => {
    log[isBroken ? "error" : "fatal"]({ err }, origin);
    isBroken = true;
    exitCode = 1;
    if (stoppedAt === undefined) stop(origin);
  });

  metrics.collectProcessMetrics();
  const operations = createOperationsServer(metrics.registry, () => isReady);
  const opsPort = await listen(operations, { HOST, OPS_PORT }, log);

  return {
    async serve(listener: RequestListener) {
      const server = createPublicServer();
      requests = answerRequests(server, listener);
      const port = await listen(server, { HOST, PORT }, log);
      if (stoppedAt !== undefined) return;
      isReady = true;
      log.info({ port, opsPort, tookMs: Math.round(performance.now()) }, "ready");
      log.flush();
    },
  };
}

/** Resolves with the real port. An address that can't be had ends the process with one line. */
async function listen(server: Server, address: Partial<Settings>, log: Logger) {
  const { HOST, PORT, OPS_PORT } = address;
  try {
    server.listen(PORT ?? OPS_PORT, HOST);
    await once(server, "listening");
  } catch (error) {
    const names = Object.entries(address).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
    refuseToStart(`${names.join(" ")} can't be listened on: ${(error as Error).message}`);
  }
  // For example too many open files: one connection is lost, and not the server.
  server.on("error", (err) => log.error({ err }, "connection not accepted"));
  return (server.address() as AddressInfo).port;
}
