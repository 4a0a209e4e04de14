import type { Response } from "express";

/** The most characters of a text from a client. */
const MAX_FIELD_LENGTH = 256;
/** Replaced, since JSON escapes only those below U+0020. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;
/** The line and column at the end of a frame of a stack. */
const POSITION = /(?::\d+){0,2}\)?$/;

/** A text from a client, shortened and escaped for the log. */
export function toLogText(text: string | undefined) {
  return text?.slice(0, MAX_FIELD_LENGTH).replace(CONTROL_CHARACTERS, "\uFFFD");
}

/**
 * A text without the parts of URLs that may be private: user names and passwords, queries and fragments, and what a
 * `data:` URL holds. With `hasPositions`, lines and columns behind URLs stay, as in stacks.
 */
export function withoutPrivateParts(text: string, hasPositions = false) {
  return text.replaceAll(/\S+/g, (word) => {
    const position = (hasPositions && POSITION.exec(word)?.[0]) || "";
    const url = word
      .slice(0, word.length - position.length)
      .replace(/\/\/[^/?#]*@/, "//")
      .replace(/\bdata:.*/is, "data:");
    const end = url.search(/[?#]/);
    // A "?" or "#" in other words of a message is no query.
    return (/[/:]/.test(url.slice(0, Math.max(end, 0))) ? url.slice(0, end) : url) + position;
  });
}

/** An error in one line, for operators. An `AggregateError` of Node has a code, but no message. */
export function describeError(error: unknown) {
  const { message, code, name } = Object(error);
  return toLogText(String(message || code || name || error)) ?? "";
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
