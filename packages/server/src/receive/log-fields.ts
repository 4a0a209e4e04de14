/** The most characters of a text from a client. */
const MAX_FIELD_LENGTH = 256;
/** Replaced, since JSON escapes only those below U+0020. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** A text from a client, shortened and escaped for the log. */
export function toLogText(text: string | undefined) {
  return text?.slice(0, MAX_FIELD_LENGTH).replace(CONTROL_CHARACTERS, "\uFFFD");
}

/** The fields of every log line of a request. */
export function toLogFields({ requestId, traceId, httpRoute }: Express.Locals) {
  return { "http.request.id": requestId, trace_id: traceId, "http.route": httpRoute };
}
