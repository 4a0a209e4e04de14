import type { Response } from "express";

/** The most characters of a text from a client. */
const MAX_FIELD_LENGTH = 256;
/** Replaced, since JSON escapes only those below U+0020. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** A text from a client, shortened and escaped for the log. */
export function toLogText(text: string | undefined) {
  return text?.slice(0, MAX_FIELD_LENGTH).replace(CONTROL_CHARACTERS, "\uFFFD");
}

/** The path of a request for the log. For a malformed target, its text without the query, which may be private. */
export function toPathText(path: string | undefined, target: string) {
  return toLogText(path ?? target.replace(/[?#].*/s, ""));
}

/** The fields of every log line of a request. */
export function toLogFields(res: Response) {
  const { requestId, traceId } = res.locals;
  return { "http.request.id": requestId, trace_id: traceId, "http.route": findHttpRoute(res) };
}

/** The pattern of the router or handler in front of the files that has matched, or else of the page or the file. */
export function findHttpRoute({ req, locals }: Response) {
  const { baseUrl = "", matched } = req;
  const isInside = matched?.route && matched.baseUrl.length >= baseUrl.length;
  const [mountPath, path] = isInside ? [matched.baseUrl, String(matched.route?.path)] : [baseUrl, ""];
  // Lower case, since a mount path matches in any case.
  return mountPath.toLowerCase() + path || locals.httpRoute;
}
