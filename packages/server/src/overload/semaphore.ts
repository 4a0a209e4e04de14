import type { EventEmitter } from "node:events";
import { getHeapStatistics } from "node:v8";
import createHttpError from "http-errors";
import type { Turns } from "./turns.ts";

/** In seconds: how long work may wait, and the `Retry-After` of the 503. */
const MAX_WAIT = 5;

/** V8 ends the process if its heap is full. Above this share, only a part of the limit is admitted. */
const MAX_HEAP_SHARE = 0.7;
const PART_FOR_FULL_HEAP = 1 / 16;

/** `expose`, so that the error isn't logged: overload isn't a bug. */
export const OVERLOADED = createHttpError(503, { expose: true, headers: { "Retry-After": String(MAX_WAIT) } });

type Waiting = { weight: number; res: EventEmitter | undefined; admit: () => void; shed: () => void };

type Options = {
  /** The total weight. */
  limit: number;
  maxWaiting?: number;
  turns: Turns;
  /** Whether the work of a response is admitted before other work, and is shed after it. */
  isPreferred?: (res: EventEmitter | undefined) => boolean;
  onShed: () => void;
};

/**
 * Admits work up to a total weight, and less while the heap is nearly full. More work waits in order, for 5 s;
 * preferred work is admitted first. Each turn of the event loop, it admits at most one item, so that other connections
 * are served in between. New connections are accepted first.
 */
export function createSemaphore(options: Options) {
  const { limit, maxWaiting = Number.POSITIVE_INFINITY, turns, isPreferred, onShed } = options;
  const queue = new Set<Waiting>();
  let used = 0;
  let isScheduled = false;

  const findLimit = () => (isHeapFull() ? limit * PART_FOR_FULL_HEAP : limit);

  /** Work that is heavier than the limit runs alone. */
  const isTooHeavy = (work?: Waiting) => work !== undefined && used > 0 && used + work.weight > findLimit();

  const findFirst = () => (isPreferred && [...queue].find(({ res }) => isPreferred(res))) ?? [...queue][0];

  function schedule() {
    if (!isScheduled) turns.runAfterAccepts(admitFirst);
    isScheduled = true;
  }

  function admitFirst() {
    isScheduled = false;
    const first = findFirst();
    if (!first || isTooHeavy(first)) return;
    first.admit();
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
    /** Admits what waits, in turn, if it fits by now. */
    schedule,
    /** Whether work waits because too little weight is free. */
    isFull: () => isTooHeavy(findFirst()),
    /** Takes a weight of 1 past the queue. Returns a function that releases it, or undefined if too little is free. */
    tryAcquire: () => (used + 1 <= findLimit() ? take(1) : undefined),
    /**
     * Resolves with a function that releases the weight. Rejects with 503 if it times out, or if `res` emits "close".
     * If too much work waits, rejects this one or, with `isPreferred`, the oldest without preference.
     */
    acquire(weight = 1, res?: EventEmitter) {
      return new Promise<() => void>((resolve, reject) => {
        const leave = () => {
          clearTimeout(timer);
          res?.off("close", cancel);
          queue.delete(waiting);
          schedule(); // The next may be lighter.
        };
        const cancel = () => {
          leave();
          reject(OVERLOADED);
        };
        const shed = () => {
          onShed();
          cancel();
        };
        const waiting = {
          weight,
          res,
          shed,
          admit() {
            leave();
            resolve(take(weight));
          },
        };
        const timer = setTimeout(shed, MAX_WAIT * 1000);
        if (queue.size >= maxWaiting) {
          const other = isPreferred && [...queue].find(({ res }) => !isPreferred(res));
          if (!other) return shed();
          other.shed();
        }
        res?.once("close", cancel);
        queue.add(waiting);
        schedule();
      });
    },
  };
}

/** The used size includes garbage. Near the limit, V8 collects so often that little is garbage. */
function isHeapFull() {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return used_heap_size > heap_size_limit * MAX_HEAP_SHARE;
}

export type Semaphore = ReturnType<typeof createSemaphore>;
