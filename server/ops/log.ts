import { pino } from "pino";

/** Lines are written in chunks of this many characters, so that a request seldom costs a system call, */
const CHUNK = 32_768;
/** but at the latest after this many ms, */
const LATEST_WRITE = 200;
/** and when more bytes than these wait for a reader, lines are dropped rather than kept. */
const MOST_KEPT = 8 * 1024 * 1024;

/** A logger of JSON lines on standard output, readable ones in a terminal during development; and where its lines go. */
export function createLog(level: string) {
  const lines = createDestination();
  const formatters = { level: (label: string) => ({ level: label }) };
  return { log: pino({ level, base: null, timestamp: timeField, formatters }, lines), lines };
}

function createDestination(): pino.DestinationStream {
  if (!import.meta.env.DEV) return inChunks(process.stdout);
  return process.stdout.isTTY ? pino.transport({ target: "pino-pretty" }) : process.stdout;
}

let lastTime = 0;
let lastField = "";

/** The time as part of a line. Under load many lines share a millisecond, so it is written out once. */
export function timeField() {
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
