import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Request, Response } from "express";
import type { Logger } from "pino";
import type { RouterContextProvider } from "react-router";
import { removeBreakingHeaders } from "../../http/page-headers.ts";
import { limitRate } from "../../telemetry/limit-rate.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";
import type { CheckUrl } from "../check-url.ts";
import type { CreateContext } from "./context.ts";

/** Lines per second: clients can request a failing page at any rate. */
const MAX_ERRORS_LOGGED = 10;

/** Shared, since creating an error with its stack takes CPU time. */
const CLOSED = new DOMException("The response has closed", "AbortError");

type Options = {
  createContext: CreateContext;
  checkUrl: CheckUrl;
  /** Aborted when the server shuts down. */
  shutdown: AbortSignal;
  log: Logger;
};

/** Creates `getLoadContext` for `createRequestHandler`: the context of a request that React Router handles. */
export function createGetLoadContext({ createContext, checkUrl, shutdown, log }: Options) {
  setMaxListeners(0, shutdown); // Each pending request adds a listener.
  const logFailedBody = limitRate(MAX_ERRORS_LOGGED, (fields: object) => log.error(fields, "body failed"));
  const logFailedRender = limitRate(MAX_ERRORS_LOGGED, (fields: object) => log.error(fields, "render failed"));
  return (req: Request, res: Response) => {
    const { locals } = res;
    checkUrl(req, res);
    locals.nonce = randomUUID(); // Node generates these in batches, which is faster than randomBytes.
    locals.parts = [];
    removeBreakingHeaders(res);
    res.once("close", () => {
      // The adapter destroys a response whose body fails, and logs nothing.
      if (res.errored) logFailedBody({ err: res.errored, ...toLogFields(res) });
    });
    return createContext({
      nonce: locals.nonce,
      httpRoute: locals.httpRoute,
      parts: locals.parts,
      running: locals.running,
      ended: locals.ended,
      trace: locals.trace,
      signal: createSignal(res, shutdown),
      res,
      onError(err) {
        // After a 413, reading the body fails. That isn't an error of the page.
        if (!res.writableEnded) logFailedRender({ err, ...toLogFields(res) });
      },
    });
  };
}

/** Not `AbortSignal.any`: Node 20 keeps its signals in memory (nodejs/node#55351). */
function createSignal(res: Response, shutdown: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(CLOSED);
  if (shutdown.aborted) abort();
  shutdown.addEventListener("abort", abort);
  res.once("close", () => {
    shutdown.removeEventListener("abort", abort);
    abort();
  });
  return controller.signal;
}

/** May also be async, and set further values in the context. */
export type GetLoadContext = (req: Request, res: Response) => RouterContextProvider | Promise<RouterContextProvider>;
