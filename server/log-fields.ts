/** Characters of anything that a client wrote. */
const MAX_FIELD_LENGTH = 256;
/** JSON escapes those below U+0020 only. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** What a client wrote, as the log may have it. */
export function toLogText(text: string | undefined) {
  return text?.slice(0, MAX_FIELD_LENGTH).replace(CONTROL_CHARACTERS, "\uFFFD");
}

/** What every line of a request has in the log. */
export function toLogFields({ requestId, traceId }: Express.Locals) {
  return { "http.request.id": requestId, trace_id: traceId };
}
