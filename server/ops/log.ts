import { pino, stdTimeFunctions } from "pino";

/** Lines are written in chunks of this many characters, so that few requests cost a system call. */
const CHUNK_LENGTH = 32_768;
/** The longest that a line waits for its chunk to fill. */
const FLUSH_INTERVAL_MS = 200;
/** When more than this waits for a reader, lines are dropped rather than kept. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/** A logger of JSON lines on standard output. */
export function createLog(level: string) {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime, formatters }, createDestination());
}

/**
 * Not pino's own destination: its writes occupy a thread each, so a reader of the log that stalls
 * without going away would keep the process from ever ending. Node's stream waits without one.
 */
function createDestination() {
  const { stdout } = process;
  let lines = "";
  const flush = (done?: () => void) => {
    if (stdout.writableLength < MAX_BUFFERED_BYTES) stdout.write(lines, done);
    else done?.();
    lines = "";
  };
  stdout.on("error", () => {}); // A reader that goes away takes the log with it, but no request.
  setInterval(() => lines && flush(), FLUSH_INTERVAL_MS).unref();
  process.on("exit", () => flush());
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= CHUNK_LENGTH) flush();
    },
    flush,
  };
}
