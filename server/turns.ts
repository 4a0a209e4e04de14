/** After this time, a turn of the event loop starts no more work. The rest waits for the next turn. */
const MAX_TURN_MS = 2;
/** A turn accepts only one connection (libuv/libuv#3696). Work waits for at most this many. */
const MAX_ACCEPTS = 64;

const admissions: (() => void)[] = [];
const waiting: (() => void)[] = [];
let isScheduled = false;
let hasAccepted = false;
let hasRunAtOnce = false;
/** When the last admissions began, until the next turn. */
let admittedAt: number | undefined;
let nextAdmissionAt = 0;

/**
 * Runs work in this turn of the event loop, or in a later one. Turns stay short, and while clients are connecting,
 * their connections are accepted first. Otherwise, a burst of requests would delay new clients for seconds.
 */
export function runInTurn(run: () => void) {
  waiting.push(run);
  schedule();
}

/** Runs work at once if it is the first such work of its turn, or else like `runInTurn`. */
export function runAtOnce(run: () => void) {
  if (hasRunAtOnce) return runInTurn(run);
  hasRunAtOnce = true;
  schedule();
  run();
}

/** Runs an admission in a later turn. While other work waits, admitted work, such as renders, gets half of the time. */
export function admitInTurn(admit: () => void) {
  admissions.push(admit);
  schedule();
}

/** Must be called for each accepted connection. */
export function recordAccept() {
  hasAccepted = true;
}

function schedule() {
  if (!isScheduled) setImmediate(runWaiting, 0);
  isScheduled = true;
}

function runWaiting(accepts: number) {
  const isAccepting = hasAccepted && accepts < MAX_ACCEPTS;
  hasAccepted = false;
  hasRunAtOnce = false;
  if (isAccepting) return setImmediate(runWaiting, accepts + 1);
  isScheduled = false;
  const startedAt = performance.now();
  if (admittedAt !== undefined) nextAdmissionAt = startedAt + (startedAt - admittedAt);
  admittedAt = undefined;
  // What is added meanwhile waits for the next turn.
  for (let count = waiting.length; count > 0 && performance.now() < startedAt + MAX_TURN_MS; count -= 1)
    waiting.shift()?.();
  if (admissions.length > 0 && (waiting.length === 0 || startedAt >= nextAdmissionAt)) {
    admittedAt = performance.now();
    for (const admit of admissions.splice(0)) admit();
  }
  // The turn after admissions measures the time of what they admitted.
  if (waiting.length + admissions.length > 0 || admittedAt !== undefined) schedule();
}
