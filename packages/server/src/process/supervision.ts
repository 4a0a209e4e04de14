import type { Logger } from "pino";
import { inTime } from "../overload/index.ts";

/** Kubernetes waits this long for a probe by default. */
const CHECK_TIMEOUT_MS = 1000;
export const CLOSE_TIMEOUT_MS = 2000;

type Services = { checkReadiness?: () => Promise<unknown>; close?: () => Promise<unknown> };

/** Checks whether the services are ready, and closes them. Both time out, and failures are logged. */
export function superviseServices(services: Services, log: Logger) {
  let wasReady = true;
  let check: Promise<boolean> | undefined;

  /** Logs changes only, not each probe. */
  const checkReadiness = async () => {
    try {
      await inTime(services.checkReadiness?.(), CHECK_TIMEOUT_MS);
      if (!wasReady) log.info("services ready");
      wasReady = true;
    } catch (err) {
      if (wasReady) log.warn({ err }, "services not ready");
      wasReady = false;
    }
    return wasReady;
  };

  /** Concurrent probes share a check. */
  const isReady = () => {
    check ??= checkReadiness().finally(() => {
      check = undefined;
    });
    return check;
  };

  return {
    isReady,
    /** Whether the last check succeeded, for scrapes, which can't wait for a service. Starts the next check. */
    getLastResult() {
      isReady();
      return wasReady;
    },
    /** Resolves with whether they have closed. */
    async close() {
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
