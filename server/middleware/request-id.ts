import { randomUUID } from "node:crypto";
import type { Middleware } from "../chain.ts";

const REQUEST_ID = /^[\w.:-]{1,64}$/;
/** Version, trace id, parent id, flags, and what later versions may add. Version ff and ids of zeros are invalid. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0+-)([\da-f]{32})-(?!0+-)[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** Reads the request id and the trace id of the client or the proxy. Generates a request id if it isn't well-formed. */
export const requestId: Middleware = (req, res, next) => {
  const { "x-request-id": given, traceparent } = req.headers;
  res.locals.requestId = typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
  if (typeof traceparent === "string") res.locals.traceId = parseTraceId(traceparent);
  next();
};

/** The trace id of a `traceparent` header (W3C Trace Context §3.2); undefined if the header isn't valid. */
export function parseTraceId(traceparent: string) {
  const [, version, traceId, added] = TRACEPARENT.exec(traceparent) ?? [];
  return version === "00" && added !== undefined ? undefined : traceId;
}
