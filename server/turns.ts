/** In each turn of the event loop, work runs for this long. The rest waits for the next turn. */
const MAX_TURN_MS = 2;
/** A turn accepts only one connection (libuv/libuv#3696). Work waits for at most this many. */
const MAX_ACCEPTS = 64;

const waiting: (() => void)[] = [];
let isScheduled = false;
let hasAccepted = false;

/**
 * Runs work in this turn of the event loop, or in a later one. Turns stay short, and while clients are connecting, their
 * connections are accepted first. Otherwise, a burst of requests would delay new clients for seconds.
 */
export function runInTurn(run: () => void) {
  waiting.push(run);
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
  if (isAccepting) return setImmediate(runWaiting, accepts + 1);
  isScheduled = false;
  const endsAt = performance.now() + MAX_TURN_MS;
  // What is added meanwhile waits, too.
  for (let count = waiting.length; count > 0 && performance.now() < endsAt; count -= 1) waiting.shift()?.();
  if (waiting.length > 0) schedule();
}
