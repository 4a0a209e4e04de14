import { pino } from "pino";

/** Lines are written in chunks of this many characters, so that few requests cost a system call. */
const CHUNK_LENGTH = 32_768;
/** The longest that a line waits for its chunk to fill. */
const FLUSH_INTERVAL_MS = 200;
/** When more than this waits for a reader, lines are dropped rather than kept. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/** Has a function run at most so many times a second: what strangers cause must not fill the log. */
export function limitRate<Args extends unknown[]>(maxPerSecond: number, run: (...args: Args) => void) {
  let count = 0;
  setInterval(() => {
    count = 0;
  }, 1000).unref();
  return (...args: Args) => {
    count += 1;
    if (count <= maxPerSecond) run(...args);
  };
}

/** A logger of JSON lines on standard output. `onDrop` is told how many lines were lost. */
export function createLog(level: string, onDrop: (lines: number) => void) {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: createTimestamp(), formatters }, createDestination(onDrop));
}

/** As pino's `isoTime`, formatted once per millisecond: for each line it is a tenth of what a kept page costs. */
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

/**
 * Not pino's own destination: its writes occupy a thread each, so a reader of the log that stalls
 * without going away would keep the process from ever ending. Node's stream waits without one.
 */
function createDestination(onDrop: (lines: number) => void) {
  const { stdout } = process;
  let chunk = "";
  let lines = 0;
  const flush = (done?: () => void) => {
    if (stdout.writableLength < MAX_BUFFERED_BYTES) stdout.write(chunk, done);
    else {
      onDrop(lines);
      done?.();
    }
    chunk = "";
    lines = 0;
  };
  stdout.on("error", () => {}); // A reader that goes away takes the log with it, but no request.
  setInterval(() => chunk && flush(), FLUSH_INTERVAL_MS).unref();
  process.on("exit", () => flush());
  return {
    write(line: string) {
      chunk += line;
      lines += 1;
      if (chunk.length >= CHUNK_LENGTH) flush();
    },
    flush,
  };
}
