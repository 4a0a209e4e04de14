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

/**
 * Work of a route waits while the route holds this many times the weight that is free: alone, it gets three quarters of
 * what is not reserved. So however many requests of some routes hang, others are admitted (dynamic thresholds,
 * Choudhury and Hahne 1998).
 */
const MAX_HELD_PER_FREE = 3;

type Work = {
  weight: number;
  /** What it shares the limit with: it can't hold all of it. */
  route?: string | undefined;
  /** Whether it may use the reserve. */
  isReserved?: boolean;
};
type Waiting = Work & { res: EventEmitter | undefined; admit: () => void; shed: () => void };

type Options = {
  /** The total weight. */
  limit: number;
  maxWaiting?: number;
  /** The share of the limit that is for reserved work. */
  reserve?: number;
  turns: Turns;
  /** Whether the work of a response is admitted before other work, and is shed after it. */
  isPreferred?: (res: EventEmitter | undefined) => boolean;
  onShed: () => void;
};

/**
 * Admits work up to a total weight, and less while the heap is nearly full. More work waits in order, for 5 s;
 * preferred work is admitted first, and work of a route that holds its share is passed. Each turn of the event loop, it
 * admits at most one item, so that other connections are served in between. New connections are accepted first.
 */
export function createSlotQueue(options: Options) {
  const { limit, maxWaiting = Number.POSITIVE_INFINITY, reserve = 0, turns, isPreferred, onShed } = options;
  const queue = new Set<Waiting>();
  const heldByRoute = new Map<string, number>();
  let used = 0;
  /** The part of it that is of reserved work. */
  let reserved = 0;
  let isScheduled = false;

  const findLimit = () => (isHeapFull() ? limit * PART_FOR_FULL_HEAP : limit);

  /** Work that is heavier than the limit runs alone. */
  const isTooHeavy = (work?: Waiting) => work !== undefined && used > 0 && used + work.weight > findLimit();

  /** The weight that is free for work: what isn't reserved, or all of it. */
  const findFree = ({ isReserved }: Work, currentLimit: number) =>
    isReserved
      ? currentLimit - used
      : Math.min(currentLimit, Math.ceil(currentLimit * (1 - reserve)) + reserved) - used;

  /** If nothing is free, all routes wait alike. */
  function isOverShare(work: Work, currentLimit = findLimit()) {
    const { route } = work;
    const free = findFree(work, currentLimit);
    const held = route === undefined ? 0 : (heldByRoute.get(route) ?? 0);
    // The last slot is for a route that holds none.
    return free > 0 && held > 0 && held >= MAX_HELD_PER_FREE * (free - 1);
  }

  /** Whether it leaves what is free to other routes, or to reserved work. */
  const isHeldBack = (work: Work, currentLimit: number) =>
    isOverShare(work, currentLimit) || (reserve > 0 && used > 0 && work.weight > findFree(work, currentLimit));

  function findFirst() {
    const currentLimit = findLimit();
    let first: Waiting | undefined;
    for (const work of queue) {
      if (isHeldBack(work, currentLimit)) continue;
      if (!isPreferred || isPreferred(work.res)) return work;
      first ??= work;
    }
    return first;
  }

  /** The work that is shed for another. */
  function findWorse(work: Work) {
    const [waiting, currentLimit] = [[...queue], findLimit()];
    const isAdmissible = !isHeldBack(work, currentLimit);
    const heldBack = isAdmissible ? waiting.find((other) => isHeldBack(other, currentLimit)) : undefined;
    return heldBack ?? (isPreferred && waiting.find(({ res }) => !isPreferred(res)));
  }

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

  function take({ weight, route, isReserved }: Work) {
    const add = (added: number) => {
      used += added;
      if (isReserved) reserved += added;
      if (route === undefined) return;
      const held = (heldByRoute.get(route) ?? 0) + added;
      if (held > 0) heldByRoute.set(route, held);
      else heldByRoute.delete(route);
    };
    add(weight);
    return () => {
      add(-weight);
      schedule();
    };
  }

  return {
    getUsed: () => used,
    /** Admits what waits, in turn, if it fits by now. */
    schedule,
    /** If work waits because too little weight is free: the route that must free some, or undefined for any. */
    findBlocked(): { route: string | undefined } | undefined {
      const first = findFirst();
      if (first) return isTooHeavy(first) ? { route: undefined } : undefined;
      const [waiting] = queue;
      return waiting && { route: isOverShare(waiting) ? waiting.route : undefined };
    },
    /** Takes a weight of 1 past the queue. Returns a function that releases it, or undefined if too little is free. */
    tryAcquire: () => (used + 1 <= findLimit() ? take({ weight: 1 }) : undefined),
    /**
     * Resolves with a function that releases the weight. Rejects with 503 if it times out, or if `res` emits "close".
     * If too much work waits, rejects the oldest of a route that holds its share, or else this one or, with
     * `isPreferred`, the oldest without preference.
     */
    acquire(work: Work, res?: EventEmitter) {
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
          ...work,
          res,
          shed,
          admit() {
            leave();
            resolve(take(work));
          },
        };
        const timer = setTimeout(shed, MAX_WAIT * 1000);
        if (queue.size >= maxWaiting) {
          const other = findWorse(work);
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

export type SlotQueue = ReturnType<typeof createSlotQueue>;
