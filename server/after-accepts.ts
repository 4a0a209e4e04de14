/** The most connections that work waits for. */
const MAX_ACCEPTS = 64;

const waiting: (() => void)[] = [];
let isAccepting = false;
let hasAccepted = false;

/**
 * Runs work at once or, while clients are connecting, after their connections are accepted. A turn of the event loop accepts
 * only one connection (libuv/libuv#3696). If each turn also handled the requests of all others, a burst of clients would
 * delay a new one for seconds.
 */
export function afterAccepts(run: () => void) {
  if (isAccepting) waiting.push(run);
  else run();
}

/** Must be called for each accepted connection. */
export function recordAccept() {
  hasAccepted = true;
  if (!isAccepting) setImmediate(endTurn, 0);
  isAccepting = true;
}

function endTurn(accepts: number) {
  if (hasAccepted && accepts < MAX_ACCEPTS) setImmediate(endTurn, accepts + 1);
  else isAccepting = false;
  hasAccepted = false;
  if (!isAccepting) for (const run of waiting.splice(0)) run();
}
