/** Admissions wait for at most this many connections. */
const MAX_ACCEPTS = 64;
/** Requests are handled for this long before the server reads again. */
const TURN_MS = 5;

/**
 * Lets admissions wait while clients are connecting: a turn of the event loop accepts only one connection
 * (libuv/libuv#3696). Otherwise, a burst of clients with slow pages would keep new clients waiting for minutes.
 */
export function createTurns() {
  let accepted = 0;
  const runAfterAccepts = (run: () => void, accepts = 0) => {
    const before = accepted;
    setImmediate(() => {
      if (accepted > before && accepts < MAX_ACCEPTS) runAfterAccepts(run, accepts + 1);
      else run();
    });
  };
  return {
    recordAccept() {
      accepted += 1;
    },
    /** Runs an admission in the next turn in which no connection was accepted, or after MAX_ACCEPTS turns. */
    runAfterAccepts,
  };
}

export type Turns = ReturnType<typeof createTurns>;

/**
 * The returned function runs what it gets in order, for up to TURN_MS in each turn of the event loop. So all requests
 * that have arrived are read before the first is handled, which takes a tenth less CPU time, and connections that
 * pipeline take turns. In between, the server notices which clients have left, and doesn't handle their requests.
 */
export function createQueue() {
  // Not a Set: V8 links its old tables to the new ones, which keeps finished requests in memory until a full
  // collection.
  let queue: (() => void)[] = [];
  let isScheduled = false;

  function schedule() {
    if (!isScheduled) setImmediate(runTurn);
    isScheduled = true;
  }

  function runTurn() {
    isScheduled = false;
    const startedAt = performance.now();
    const turn = queue;
    queue = []; // What is added meanwhile runs in the next turn.
    let count = 0;
    try {
      for (const run of turn) {
        count += 1;
        run();
        if (performance.now() - startedAt > TURN_MS) break;
      }
    } finally {
      queue = [...turn.slice(count), ...queue];
      if (queue.length > 0) schedule();
    }
  }

  return (run: () => void) => {
    queue.push(run);
    schedule();
  };
}
