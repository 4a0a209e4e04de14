import type { ServerResponse } from "node:http";
import createHttpError from "http-errors";

/** In seconds. A client may try again after this time, too. */
const MAX_WAIT = 5;

/** `expose`: nothing is wrong with the server, so the error isn't logged. */
export const OVERLOADED = createHttpError(503, { expose: true, headers: { "Retry-After": String(MAX_WAIT) } });

type Waiting = { weight: number; admit: () => void };

/**
 * Admits work up to a total weight. More work waits in order, for 5 s. One starts in each turn of the event loop, so
 * that other connections are served in between.
 */
export function createSemaphore(limit: number, onTimeout: () => void) {
  const queue = new Set<Waiting>();
  let used = 0;
  let isScheduled = false;

  function schedule() {
    if (!isScheduled) setImmediate(admitFirst);
    isScheduled = true;
  }

  function admitFirst() {
    isScheduled = false;
    const [first] = queue;
    // Work that is heavier than the limit runs alone.
    if (!first || (used > 0 && used + first.weight > limit)) return;
    queue.delete(first);
    first.admit();
    schedule();
  }

  function take(weight: number) {
    used += weight;
    return () => {
      used -= weight;
      schedule();
    };
  }

  return {
    getUsed: () => used,
    isFull: () => queue.size > 0,
    /** Returns what releases the weight, or undefined if it isn't free. */
    tryAcquire: (weight = 1) => (used + weight <= limit ? take(weight) : undefined),
    /** Resolves with what releases the weight. Rejects with a 503 if the time is over or the response has closed. */
    acquire(weight = 1, res?: ServerResponse) {
      return new Promise<() => void>((resolve, reject) => {
        const leave = () => {
          clearTimeout(timer);
          res?.off("close", giveUp);
          queue.delete(waiting);
        };
        const giveUp = () => {
          leave();
          reject(OVERLOADED);
        };
        const timeOut = () => {
          onTimeout();
          giveUp();
        };
        const waiting = {
          weight,
          admit() {
            leave();
            resolve(take(weight));
          },
        };
        const timer = setTimeout(timeOut, MAX_WAIT * 1000);
        res?.once("close", giveUp);
        queue.add(waiting);
        schedule();
      });
    },
  };
}

export type Semaphore = ReturnType<typeof createSemaphore>;
