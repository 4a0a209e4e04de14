/** Admissions wait for at most this many connections. */
const MAX_ACCEPTS = 64;

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
