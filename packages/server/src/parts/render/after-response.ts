import type { Response } from "express";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { inTime } from "../../overload/index.ts";
import type { AfterResponse } from "../../pages/context.ts";
import { limitRate } from "../../telemetry/limit-rate.ts";
import { countBy } from "../../telemetry/metrics.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";

/** Lines per second: clients can request a failing page at any rate. */
const MAX_ERRORS_LOGGED = 10;
/** A part of the time that services have to close, which comes next. */
const SHUTDOWN_TIMEOUT_MS = 1000;

/** Runs what loaders and actions leave for after the response, so that no client waits for that work. */
export function createAfterResponse(registry: Registry, log: Logger) {
  const record = countBy(registry, {
    name: "after_response_tasks_total",
    help: "Work of loaders and actions after the response.",
    label: "result",
    values: { done: "without an error", failed: "logged" },
  });
  const logFailed = limitRate(MAX_ERRORS_LOGGED, (fields: object) =>
    log.error(fields, "work after the response failed"),
  );
  const running = new Set<Promise<void>>();

  async function run(work: () => unknown, res?: Response) {
    try {
      await (res && !res.closed && new Promise((resolve) => res.once("close", resolve)));
      await work();
      record("done");
    } catch (err) {
      record("failed");
      logFailed({ err, ...(res && toLogFields(res)) });
    }
  }

  return {
    /**
     * A request holds its slot until its work has ended, for at most HANDLER_TIMEOUT_MS. A page that is rendered for the
     * cache has no response: its work starts at once.
     */
    afterResponse(res?: Response): AfterResponse {
      return (work) => {
        const result = run(work, res).finally(() => running.delete(result));
        running.add(result);
        res?.locals.running?.add(result);
      };
    },
    /** Waits for all work at shutdown, for 1 s. */
    async finishWork() {
      await inTime(Promise.all(running), SHUTDOWN_TIMEOUT_MS).catch((err) =>
        log.error({ err, tasks: running.size }, "work after responses not done"),
      );
    },
  };
}
