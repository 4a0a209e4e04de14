import { toLogText, withoutPrivateParts } from "../telemetry/log-text.ts";

/** The most different errors. Of equal ones, only the last is kept, with their number. */
const MAX_ERRORS = 20;

type LoggedError = {
  /** As in the log. */
  time: string;
  times: number;
  message: string;
  /** The route, or else the path or the file. */
  where: string;
  requestId: string;
};

/** Keeps the last log lines with an exception or 503, shortened and without queries. */
export function createLastErrors() {
  // In the order of their last occurrence.
  const errors = new Map<string, LoggedError>();
  return {
    /** Records a log line. */
    record(line: string) {
      const fields = JSON.parse(line) as Record<string, unknown>;
      const read = (name: string) => toShortText(fields[name]);
      const cause = [read("exception.type"), read("exception.message")].filter(Boolean).join(": ");
      const status = fields["http.response.status_code"];
      const message = [read("msg"), cause || status].filter(Boolean).join(": ");
      const where = read("http.route") || read("url.path") || read("file");
      const key = JSON.stringify([message, where]);
      const times = (errors.get(key)?.times ?? 0) + 1;
      errors.delete(key);
      errors.set(key, { time: read("time"), times, message, where, requestId: read("http.request.id") });
      const [oldest = ""] = errors.keys();
      if (errors.size > MAX_ERRORS) errors.delete(oldest);
    },
    /** Lists them, the last one first. */
    list: () => [...errors.values()].reverse(),
  };
}

/** Copied, since a part of a text would keep all of it in memory (V8's sliced strings). */
function toShortText(field: unknown) {
  const text = typeof field === "string" ? toLogText(withoutPrivateParts(field.slice(0, 4096))) : "";
  return Buffer.from(text ?? "").toString();
}
