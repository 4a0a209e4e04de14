const VERSION_00 = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;
/** Later versions begin as this one does, and may go on after another "-"; ff is none. */
const LATER_VERSION = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-|$)/;
const ALL_ZEROS = /^0+$/;

/** The trace id of a `traceparent` header (W3C Trace Context §3.2); undefined where the header is not valid. */
export function parseTraceId(traceparent: string) {
  const pattern = traceparent.startsWith("00") ? VERSION_00 : LATER_VERSION;
  const [, traceId = "0", parentId = "0"] = pattern.exec(traceparent) ?? [];
  return ALL_ZEROS.test(traceId) || ALL_ZEROS.test(parentId) ? undefined : traceId;
}
