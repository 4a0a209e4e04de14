import type { Logger } from "pino";
import { inTime } from "../overload/index.ts";
import { describeError } from "../telemetry/log-text.ts";

const CHECK_INTERVAL_MS = 2000;
const CHECK_TIMEOUT_MS = 1000;
/** Services that were ready count as not ready after this many failed checks: a single one may only be slow. */
const MAX_FAILED_CHECKS = 2;
export const CLOSE_TIMEOUT_MS = 2000;

type Services = { checkReadiness?: () => unknown; close?: () => unknown };

/** Checks again and again whether the services are ready, and closes them. Both time out, and failures are logged. */
export function superviseServices(services: Services, log: Logger) {
  let wasReady = false;
  let failedChecks = 0;
  let failure: string | undefined;
  let lastFailure: { at: Date; reason: string } | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Logs changes only, not each check. */
  async function check() {
    try {
      await inTime(services.checkReadiness?.(), CHECK_TIMEOUT_MS);
      if (failure !== undefined) log.info("services ready");
      wasReady = true;
      failedChecks = 0;
      failure = undefined;
    } catch (err) {
      failedChecks += 1;
      lastFailure = { at: new Date(), reason: describeError(err) };
      if (wasReady && failedChecks < MAX_FAILED_CHECKS) return;
      if (failure === undefined) log.warn({ err }, "services not ready");
      failure = lastFailure.reason;
    }
  }

  async function checkAgain() {
    await check();
    if (services.checkReadiness) timer = setTimeout(checkAgain, CHECK_INTERVAL_MS).unref();
  }

  return {
    /**
     * Resolves after the first check. From then on, probes and scrapes get the last result: none waits for a service.
     */
    start: checkAgain,
    /** Why the services aren't ready, if they aren't. */
    getFailure: () => failure,
    /** The last check that failed, even if it was a single one, or the services are ready again. */
    getLastFailure: () => lastFailure,
    /** Whether they have been ready. */
    hasStarted: () => wasReady,
    /** Resolves with whether they have closed. */
    async close() {
      clearTimeout(timer);
      try {
        await inTime(services.close?.(), CLOSE_TIMEOUT_MS);
        return true;
      } catch (err) {
        log.error({ err }, "services not closed");
        return false;
      }
    },
  };
}
