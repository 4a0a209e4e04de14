import { randomUUID } from "node:crypto";
import { parseTraceId } from "../http/trace-context.ts";
import type { Middleware } from "./chain.ts";

const REQUEST_ID = /^[\w.:-]{1,64}$/;

/**
 * Takes the request's id from the client or the proxy where it is well-formed, or makes a new one; and the id of the
 * trace that it belongs to.
 */
export const requestId: Middleware = (req, res, next) => {
  const { "x-request-id": given, traceparent } = req.headers;
  res.locals.requestId = typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
  if (typeof traceparent === "string") res.locals.traceId = parseTraceId(traceparent);
  next();
};
