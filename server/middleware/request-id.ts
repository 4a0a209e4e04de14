import { randomUUID } from "node:crypto";
import type { Middleware } from "../chain.ts";

const REQUEST_ID = /^[\w.:-]{1,64}$/;
const VERSION_00 = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;
/** Later versions begin as this one does, and may go on after another "-"; ff is none. */
const LATER_VERSION = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-|$)/;
const ALL_ZEROS = /^0+$/;

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

/** The trace id of a `traceparent` header (W3C Trace Context §3.2); undefined where the header is not valid. */
export function parseTraceId(traceparent: string) {
  const pattern = traceparent.startsWith("00") ? VERSION_00 : LATER_VERSION;
  const [, traceId = "0", parentId = "0"] = pattern.exec(traceparent) ?? [];
  return ALL_ZEROS.test(traceId) || ALL_ZEROS.test(parentId) ? undefined : traceId;
}
