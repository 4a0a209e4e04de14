import { hostname } from "node:os";
import { inspect } from "node:util";
import { pino } from "pino";
import type { Registry } from "prom-client";
import { count } from "./metrics.ts";
import { toText } from "./terminal.ts";

/** Lines are written in chunks of this many characters, which saves system calls. */
const CHUNK_LENGTH = 32_768;
/** A line waits at most this long for its chunk to fill. */
const FLUSH_INTERVAL_MS = 200;

type Options = {
  level: string;
  maxBufferedBytes: number;
  registry: Registry;
  /** The release that runs. */
  version: string;
  revision: string;
  /** Gets the lines that have an exception, and those of requests that were shed. */
  onError: (line: string) => void;
};

/**
 * A logger of JSON lines on standard output, or of text if that is a terminal. If more than `maxBufferedBytes` wait for
 * the reader, lines are dropped, and a warning counts them once it reads again. It writes to `process.stdout`. pino's
 * own destination writes in libuv's threads: a write that blocks there would keep the process from exiting.
 */
export function createLog({ level, maxBufferedBytes, registry, version, revision, onError }: Options) {
  const onDrop = count(
    registry,
    "log_lines_dropped_total",
    "Log lines dropped, since the reader stalled or standard output failed.",
  );
  const { stdout } = process;
  let chunk = "";
  let lines = 0;
  let lost = 0;
  // Other lines, such as those of requests with another status than 503, aren't read again.
  let isError = false;
  const flush = (done?: () => void) => {
    // Resumes at half the limit, so that a slow reader doesn't cause a warning for each dropped chunk.
    if (stdout.writableLength <= (lost > 0 ? maxBufferedBytes / 2 : maxBufferedBytes)) {
      const missed = lost;
      lost = 0;
      // Adds its line to the chunk.
      if (missed > 0) log.warn({ lines: missed }, "log lines dropped: the reader stalled");
      const written = lines;
      stdout.write(chunk, (error) => {
        if (error) onDrop(written);
        done?.();
      });
    } else {
      onDrop(lines);
      lost += lines;
      done?.();
    }
    chunk = "";
    lines = 0;
  };
  const destination = {
    write(line: string) {
      if (isError) onError(line);
      isError = false;
      chunk += stdout.isTTY ? toText(line) : line;
      lines += 1;
      if (chunk.length >= CHUNK_LENGTH) flush();
    },
    flush,
  };
  const noteError = () => {
    isError = true;
  };
  // pino makes one text of them, so a line takes 0.3 µs more (Node 20 and 24). They tell processes and releases apart.
  const base = {
    "service.version": version,
    "vcs.ref.head.revision": revision,
    "host.name": hostname(),
    "process.pid": process.pid,
  };
  const log = pino({ ...createOptions(noteError), base, level }, destination);
  stdout.on("error", () => {}); // If the log's reader exits, requests are not affected.
  setInterval(() => (chunk || lost > 0) && flush(), FLUSH_INTERVAL_MS).unref();
  process.on("exit", () => flush());
  return log;
}

/** A logger of text, for development. */
export function createTextLog(level: string) {
  return pino({ ...createOptions(), level }, { write: (line) => void process.stdout.write(toText(line)) });
}

/** `onError` is called before the line is written. */
function createOptions(onError = () => {}) {
  const formatters = {
    level: (label: string) => ({ level: label }),
    log(fields: Record<string, unknown>) {
      if (fields["http.response.status_code"] === 503) onError();
      if (!("err" in fields)) return fields;
      onError();
      return nameException(fields);
    },
  };
  return { base: null, timestamp: createTimestamp(), formatters };
}

/** Renames pino's `err` to OpenTelemetry's names. The stack trace includes causes and properties. */
function nameException({ err, ...fields }: Record<string, unknown>) {
  const type = err instanceof Error ? err.constructor.name : typeof err;
  const message = err instanceof Error ? err.message : String(err);
  return { ...fields, "exception.type": type, "exception.message": message, "exception.stacktrace": inspect(err) };
}

/** Like pino's `isoTime`, but formatted once per millisecond. */
function createTimestamp() {
  let time = 0;
  let field = "";
  return () => {
    const now = Date.now();
    if (now !== time) field = `,"time":"${new Date(now).toISOString()}"`;
    time = now;
    return field;
  };
}
