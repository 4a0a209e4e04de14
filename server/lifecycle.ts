import { once } from "node:events";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import type { Metrics } from "./metrics.ts";
import { createOperationsServer } from "./operations.ts";
import { createPublicServer } from "./public-server.ts";
import type { Settings } from "./settings.ts";

type Options = { listener: RequestListener; metrics: Metrics; log: Logger; settings: Settings };

/** Listens on both ports until a signal or a bug ends the process. */
export async function serve({ listener, metrics, log, settings }: Options) {
  const { PORT, HOST, OPS_PORT, SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = settings;
  let isReady = false;
  const server = createPublicServer(listener);
  const operations = createOperationsServer(metrics.registry, () => isReady);
  const unanswered = trackUnanswered(server);
  metrics.collectProcessMetrics();

  const exit = async (code: number) => {
    log.info({ code }, "stopped");
    await new Promise((resolve) => log.flush(resolve));
    process.exit(code);
  };

  let isStopping = false;
  const stop = async (reason: string, code = 0) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    isReady = false;
    log.info({ reason, delayMs: SHUTDOWN_DELAY_MS }, "stopping: not ready any more");
    await setTimeout(SHUTDOWN_DELAY_MS);

    log.info({ unanswered: unanswered.size, timeoutMs: SHUTDOWN_TIMEOUT_MS }, "closing");
    closeAfterAnswer(server, unanswered);
    await setImmediate(); // What has arrived on idle connections is read, and so answered.
    const closed = once(server, "close");
    server.close();
    const cut = await Promise.race([
      closed.then(() => 0),
      setTimeout(SHUTDOWN_TIMEOUT_MS, undefined).then(() => unanswered.size),
    ]);
    server.closeAllConnections();
    if (cut > 0) log.warn({ cut }, "cut what was still unanswered");
    await exit(cut > 0 ? 1 : code);
  };

  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(signal));
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (err) => {
      log.fatal({ err }, event);
      if (!isStopping) stop(event, 1);
    });
  }

  try {
    const [port, opsPort] = [await listen(server, PORT, HOST), await listen(operations, OPS_PORT, HOST)];
    isReady = true;
    log.info({ port, opsPort, tookMs: Math.round(performance.now()) }, "ready");
  } catch (error) {
    log.fatal(`can't listen: ${(error as Error).message}`);
    await exit(1);
  }
}

async function listen(server: Server, port: number, host: string | undefined) {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function trackUnanswered(server: Server) {
  const unanswered = new Set<ServerResponse>();
  server.on("request", (_req, res) => {
    unanswered.add(res);
    res.once("close", () => unanswered.delete(res));
  });
  return unanswered;
}

/** From now on every answer says `Connection: close`, also those that are under way. */
function closeAfterAnswer(server: Server, unanswered: Set<ServerResponse>) {
  for (const res of unanswered) res.shouldKeepAlive = false;
  server.prependListener("request", (_req, res) => {
    res.shouldKeepAlive = false;
  });
}
