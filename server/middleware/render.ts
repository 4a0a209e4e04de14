import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { createRequestHandler } from "@react-router/express";
import type { Request, RequestHandler, Response } from "express";
import { RouterContextProvider } from "react-router";
import { cacheContext, renderContext, signalContext } from "../../app/context.ts";
import type { RenderOptions } from "../cache/render-anonymously.ts";
import { limitRate } from "../limit-rate.ts";
import { toLogFields } from "../log-fields.ts";
import { build } from "../pages/build.ts";
import { createHandlers } from "../pages/route-handlers.ts";

/** Lines per second: clients can request a failing page at any rate. */
const MAX_ERRORS_LOGGED = 10;

/** Shared, since creating an error with its stack takes CPU time. */
const CLOSED = new DOMException("The response has closed", "AbortError");

/** `shutdown` is aborted when the server shuts down. */
type Options = RenderOptions & { shutdown: AbortSignal };

/** Renders a page for this request, or runs its action, with React Router. */
export function render({ log, shutdown, cache, setContext, settings, metrics }: Options): RequestHandler {
  setMaxListeners(0, shutdown); // Each pending request adds a listener.
  const logError = limitRate(MAX_ERRORS_LOGGED, (fields: object, message: string) => log.error(fields, message));
  const getLoadContext = (_req: Request, res: Response) => {
    const { nonce, httpRoute = "", running } = res.locals;
    const context = new RouterContextProvider();
    context.set(renderContext, {
      nonce,
      origin: settings.ORIGIN?.origin,
      onError(err) {
        // After a 413, reading the body fails. That isn't an error of the page.
        if (!res.writableEnded) logError({ err, ...toLogFields(res.locals) }, "render failed");
      },
      running,
      record: (part, seconds) => metrics.recordPart(part, httpRoute, seconds),
    });
    context.set(signalContext, createSignal(res, shutdown));
    context.set(cacheContext, cache);
    setContext(context);
    return context;
  };
  const handlerOf = createHandlers(build, (build) =>
    createRequestHandler({ build, mode: import.meta.env.MODE, getLoadContext }),
  );
  return (req, res, next) => {
    res.locals.nonce = randomUUID(); // Node generates these in batches, which is faster than randomBytes.
    res.once("close", () => {
      // The adapter destroys a response whose body fails, and logs nothing.
      if (res.errored) logError({ err: res.errored, ...toLogFields(res.locals) }, "body failed");
    });
    const handled = handlerOf(res.locals.route?.id)(req, res, next);
    res.locals.running.add(handled); // Middleware of routes may go on, too.
    return handled;
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
