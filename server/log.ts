import { pino } from "pino";

/** Lines are written in chunks of this many bytes, so that a request seldom costs a system call, */
const CHUNK = 8192;
/** but at the latest after this many ms, */
const LATEST_WRITE = 500;
/** and past this many bytes, when nobody reads them, lines are dropped rather than kept. */
const MOST_KEPT = 8 * 1024 * 1024;

/** A logger of JSON lines on standard output, readable ones in a terminal during development. */
export function createLog(level: string) {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (import.meta.env.DEV) {
    return pino(process.stdout.isTTY ? { ...options, transport: { target: "pino-pretty" } } : options);
  }
  return pino(
    options,
    pino.destination({ fd: 1, sync: false, minLength: CHUNK, maxLength: MOST_KEPT, periodicFlush: LATEST_WRITE }),
  );
}
