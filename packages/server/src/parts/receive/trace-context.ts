import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const REQUEST_ID = /^[\w.:-]{1,64}$/;
/** Version, trace id, parent id, flags, and what later versions may add. Version ff and ids of zeros are invalid. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0+-)([\da-f]{32})-(?!0+-)[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** The request id of the client or the proxy, or else a new one. */
export function readRequestId({ "x-request-id": given }: IncomingHttpHeaders) {
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
}

/** The trace id of the client or the proxy. */
export function readTraceId({ traceparent }: IncomingHttpHeaders) {
  return typeof traceparent === "string" ? parseTraceId(traceparent) : undefined;
}

/** The trace id of a `traceparent` header (W3C Trace Context §3.2); undefined if the header isn't valid. */
export function parseTraceId(traceparent: string) {
  const [, version, traceId, added] = TRACEPARENT.exec(traceparent) ?? [];
  return version === "00" && added !== undefined ? undefined : traceId;
}
