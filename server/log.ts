import { pino } from "pino";

/** Lines are written in chunks of this many characters, so that a request seldom costs a system call, */
const CHUNK = 32_768;
/** but at the latest after this many ms, */
const LATEST_WRITE = 200;
/** and when more bytes than these wait for a reader, lines are dropped rather than kept. */
const MOST_KEPT = 8 * 1024 * 1024;

/** A logger of JSON lines on standard output, readable ones in a terminal during development. */
export function createLog(level: string) {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (import.meta.env.DEV) {
    return pino(process.stdout.isTTY ? { ...options, transport: { target: "pino-pretty" } } : options);
  }
  return pino(options, inChunks(process.stdout));
}

let lastTime = 0;
let lastField = "";

/** Under load many lines share a millisecond, and writing it out is a third of what a line costs. */
function isoTime() {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastField = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastField;
}

/**
 * Not pino's own destination: its writes occupy a thread each, so a reader of the log that stalls
 * without going away would keep the process from ever ending. Node's stream waits without one.
 */
function inChunks(stream: NodeJS.WriteStream) {
  let lines = "";
  const flush = (done?: () => void) => {
    if (stream.writableLength < MOST_KEPT) stream.write(lines, done);
    else done?.();
    lines = "";
  };
  stream.on("error", () => {}); // A reader that goes away takes the log with it, and not the visitors.
  setInterval(() => lines && flush(), LATEST_WRITE).unref();
  process.on("exit", () => flush());
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= CHUNK) flush();
    },
    flush,
  };
}
