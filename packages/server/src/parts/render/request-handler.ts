import * as adapter from "@react-router/express";
import type { Request, RequestHandler, Response } from "express";
import createHttpError from "http-errors";
import type { ServerBuild } from "react-router";
import { FILE_ROUTE, type Variants } from "../../locals.ts";
import { checkMethod } from "../check-method.ts";
import type { GetLoadContext } from "./load-context.ts";
import { createHandlers } from "./route-handlers.ts";
import { cancelUnreadBodies } from "./unread-bodies.ts";

type Options = { build: ServerBuild; getLoadContext: GetLoadContext };

/** The handlers made here, for the check of their order in `createApp`. */
const requestHandlers = new WeakSet<object>();

export const isRequestHandler = (handler: unknown) => requestHandlers.has(handler as object);

/** Creates the handler of React Router, as `@react-router/express` does, with one for each route. */
export function createRequestHandler({ build, getLoadContext }: Options): RequestHandler {
  const handlerOf = createHandlers(build, (build) =>
    adapter.createRequestHandler({ build: cancelUnreadBodies(build), getLoadContext }),
  );
  const handle: RequestHandler = (req, res, next) => {
    if (res.closed) return; // The client has left, so its slot is free again (overload/hold-slot.ts).
    // A page in place of a file that is missing would have no route, whose headers say who may store it.
    const error = res.locals.httpRoute === FILE_ROUTE ? createHttpError(404) : checkMethod(req, res);
    if (error) return next(error);
    const variants = res.locals.route?.cacheRule?.variants;
    if (variants) setVariant(req, res, variants);
    let end = () => {};
    res.locals.ended = new Promise((resolve) => (end = resolve));
    const handled = handlerOf(res.locals.route?.id)(req, res, next).finally(end);
    res.locals.running?.add(handled); // Middleware of routes may go on after the response.
    return handled;
  };
  requestHandlers.add(handle);
  return handle;
}

/** Gives a page that isn't sent from the cache the headers of its variant, as there. The client's cookies follow. */
function setVariant({ headers }: Request, res: Response, variants: Variants) {
  const { cookie, ...others } = variants.headers.get(variants.choose(headers)) ?? {};
  Object.assign(headers, others);
  if (cookie !== undefined) headers.cookie = headers.cookie === undefined ? cookie : `${cookie}; ${headers.cookie}`;
  res.vary(variants.vary);
}
