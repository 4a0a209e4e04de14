import { randomUUID } from "node:crypto";
import type { Middleware } from "../chain.ts";

const REQUEST_ID = /^[\w.:-]{1,64}$/;
const VERSION_00 = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;
/** Later versions start in the same way, and may continue after another "-". Version ff is invalid. */
const LATER_VERSION = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-|$)/;
const ALL_ZEROS = /^0+$/;

/** Reads the request id of the client or the proxy, or generates one if it isn't well-formed. Reads the trace id, too. */
export const requestId: Middleware = (req, res, next) => {
  const { "x-request-id": given, traceparent } = req.headers;
  res.locals.requestId = typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
  if (typeof traceparent === "string") res.locals.traceId = parseTraceId(traceparent);
  next();
};

/** The trace id of a `traceparent` header (W3C Trace Context §3.2); undefined if the header isn't valid. */
export function parseTraceId(traceparent: string) {
  const pattern = traceparent.startsWith("00") ? VERSION_00 : LATER_VERSION;
  const [, traceId = "0", parentId = "0"] = pattern.exec(traceparent) ?? [];
  return ALL_ZEROS.test(traceId) || ALL_ZEROS.test(parentId) ? undefined : traceId;
}
