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
