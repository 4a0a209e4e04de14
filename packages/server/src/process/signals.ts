import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { removeOwnListener } from "../node-internals.ts";

/** The exit waits this long for the last log lines. */
export const LOG_TIMEOUT_MS = 1000;
/** On Ctrl-C, the terminal and npm each send a signal. The second one is ignored within this time. */
const REPEATED_SIGNAL_MS = 50;

/**
 * Logs Node's warnings. Shuts down on a signal or an uncaught exception. Exits with 1 if anything failed or `shutDown`
 * returned false.
 */
export function handleProcessEvents(log: Logger, shutDown: (reason: string) => Promise<boolean>) {
  let exitCode = 0;
  let shutdownStartedAt: number | undefined;

  const close = async (reason: string) => {
    const startedAt = performance.now();
    shutdownStartedAt = startedAt;
    const isClean = await shutDown(reason).catch((err) => log.error({ err }, "shutdown failed"));
    if (!isClean) exitCode = 1;
    log.info({ exitCode, tookMs: Math.round(performance.now() - startedAt) }, "stopped");
    await Promise.race([new Promise<unknown>((resolve) => log.flush(resolve)), setTimeout(LOG_TIMEOUT_MS)]);
    process.exit(exitCode);
  };

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      if (shutdownStartedAt === undefined) return close(signal);
      if (performance.now() - shutdownStartedAt < REPEATED_SIGNAL_MS) return;
      log.warn({ signal }, "exiting at once");
      process.exit(1);
    });
  }
  removeOwnListener(process, "warning", "onWarning"); // It would write text to standard error.
  process.on("warning", (err) => log.warn({ err }, "warning of Node"));
  process.on("SIGUSR1", () => {}); // Node's own handler would open the inspector's port.
  // Also gets unhandled rejections; `origin` distinguishes them. The first one starts the shutdown, and may cause
  // others.
  process.on("uncaughtException", (err, origin) => {
    if (exitCode === 0) log.fatal({ err, origin }, "uncaught exception");
    else log.error({ err, origin }, "uncaught exception");
    exitCode = 1;
    if (shutdownStartedAt === undefined) close(origin);
  });
}

/** Exits with a line for each fault that the operator can repair, without a stack. */
export function failToStart(faults: string[]): never {
  for (const fault of faults) console.error(fault);
  process.exit(1);
}
