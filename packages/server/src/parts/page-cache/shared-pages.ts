import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { RouteEntry } from "../../locals.ts";
import { inTime } from "../../overload/index.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import { createEntry } from "./create-entry.ts";
import { type CacheEntries, type CacheEntry, pagePathOf } from "./memory.ts";
import { type PageStore, type SharedPage, type Turn, tagsOf } from "./page-store.ts";

const CONNECT_TIMEOUT_MS = 1000;
/** A store that answers nothing for this long is down. */
const ANSWER_TIMEOUT_MS = 50;
/** While the store answers other questions, no request waits longer. After a start, many requests ask at once. */
const MAX_ANSWER_MS = 250;
/** A busy process reads no answers. No request waits longer, even if the process stays busy. */
const MAX_BUSY_MS = 2000;
/** After a failure, the store isn't asked for this long. The pause doubles with each further failure. */
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5000;
/** While another process renders a page, the store is asked for the page this often. */
const POLL_INTERVAL_MS = 25;
/** Longer than a render may take. */
const MAX_WAIT_MS = 15_000;
/** In the store. */
const MAX_KEPT_MS = 24 * 3_600_000;

type Options = {
  entries: CacheEntries;
  log: Logger;
  metrics: Pick<CacheMetrics, "recordStore">;
  /** Pages of another release are never sent. */
  release: string;
  /** Whether the store has all invalidations of this process. Until then, it may have an old page. */
  isPublished: () => boolean;
};

type Found = { entry?: CacheEntry | undefined; isFresh?: boolean; turn?: Turn | undefined };

/** The cached pages that the processes of a deployment share, if the site has connected a store for them. */
export function createSharedPages({ entries, log, metrics, release, isPublished }: Options) {
  let store: PageStore | undefined;
  let connected: Promise<unknown> | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** In a row. The questions that fail at once are one failure. A full store is read, but gives no turn and stores nothing. */
  const failures = { read: 0, write: 0 };
  let answeredAt = Number.NEGATIVE_INFINITY;

  const isOpen = () => store !== undefined && performance.now() >= pausedUntil && isPublished();

  /** Resolves with undefined if the store fails, or takes too long. An answer that is late gets to `onLate`. */
  async function ask<T>(question: keyof typeof failures, answer: Promise<T>, onLate?: (answer: T) => void) {
    try {
      const result = await readInTime(answer, () => answeredAt);
      answeredAt = performance.now();
      if (answeredAt < pausedUntil) return result; // Late. The store isn't asked yet.
      if (failures[question] > 1) log.info("page store available");
      failures[question] = 0;
      return result;
    } catch (err) {
      if (onLate) answer.then(onLate, () => {});
      metrics.recordStore("error");
      if (performance.now() < pausedUntil) return undefined;
      failures[question] += 1;
      pausedUntil = performance.now() + Math.min(MIN_PAUSE_MS * 2 ** (failures[question] - 1), MAX_PAUSE_MS);
      // On a busy machine, one answer may be late.
      if (failures[question] === 2) log.warn({ err }, "page store not available: each process renders its own pages");
      return undefined;
    }
  }

  /** Puts the page of the store into memory, if the store has a newer one. Resolves with undefined if it is down. */
  async function lookUp(key: string, route: RouteEntry, wantsTurn = false): Promise<Found | undefined> {
    if (!store || !isOpen()) return undefined;
    const invalidations = entries.watch();
    try {
      const before = entries.find(key);
      // Time passes until the store answers. The age counts from here, so that no process takes a page for younger than
      // the store does: the store lets no process render a newer page while another may send this one as fresh.
      const askedAt = performance.now();
      const asked = store.lookUp(`${release} ${key}`, { version: before?.version, wantsTurn });
      const found = await ask(wantsTurn ? "write" : "read", asked, ({ turn }) => turn?.end());
      if (!found) return undefined;
      const { version, page, age, isFresh, turn } = found;
      metrics.recordStore(version === undefined ? "miss" : "hit");
      if (version === undefined) return { turn };
      const renderedAt = askedAt - age;
      // The memory has a newer page if the store was down when this process rendered the page. While the store's page is
      // fresh, the other processes send that one.
      if (page && !isFresh && before && before.renderedAt > renderedAt) return { turn };
      if (page) {
        const entry = Object.assign(createEntry(page, route, renderedAt), { version, checkedAt: askedAt });
        return entries.store(key, entry, invalidations) === "invalidated" ? { turn } : { entry, isFresh, turn };
      }
      const entry = entries.find(key);
      if (entry?.version !== version) return { turn };
      entry.checkedAt = askedAt;
      return { entry, isFresh, turn };
    } finally {
      entries.unwatch(invalidations);
    }
  }

  return {
    isOpen,
    lookUp,
    connect(opened: PageStore) {
      store = opened;
      connected = opened.connect();
      connected.catch((err) => log.error({ err }, "page store not connected"));
    },
    /** Waits for the store at startup, so that the process starts with the pages of the others, or of its last run. */
    async waitUntilConnected() {
      await inTime(connected, CONNECT_TIMEOUT_MS).catch(() => {});
    },
    /** Resolves with the right to render a page, or with the page that another process has rendered meanwhile. */
    async takeTurn(key: string, route: RouteEntry): Promise<Found> {
      const startedAt = performance.now();
      while (performance.now() - startedAt < MAX_WAIT_MS) {
        const found = await lookUp(key, route, true);
        if (!found || found.turn) return { turn: found?.turn };
        if (found.isFresh) return found;
        await wait(POLL_INTERVAL_MS);
      }
      return {};
    },
    /** Stores a page that was rendered in a turn, and sets the entry's version. */
    async store(turn: Turn, key: string, page: SharedPage, entry: CacheEntry) {
      const { lifetime, groups, renderedAt } = entry;
      const kept = lifetime.fresh + Math.max(lifetime.staleWhileRevalidate, lifetime.staleIfError);
      const options = {
        tags: [tagsOf.everything, tagsOf.path(pagePathOf(key)), ...groups.map(tagsOf.group)],
        age: performance.now() - renderedAt,
        fresh: lifetime.fresh * 1000,
        kept: Math.min(kept * 1000, MAX_KEPT_MS),
      };
      const result = await ask("write", turn.store(page, options));
      if (result === undefined) return "failed";
      metrics.recordStore(typeof result === "string" ? "refused" : "stored");
      if (typeof result === "string") return result;
      entry.version = result.version;
      return "stored";
    },
  };
}

export type SharedPages = ReturnType<typeof createSharedPages>;

/** Rejects if neither this answer nor another one arrives in time. While the process was busy, none could arrive. */
function readInTime<T>(answer: Promise<T>, readAnsweredAt: () => number) {
  return new Promise<T>((resolve, reject) => {
    const startedAt = performance.now();
    const check = (since: number) => {
      const now = performance.now();
      const wasBusy = now - since > 2 * ANSWER_TIMEOUT_MS;
      const maxMs = wasBusy ? MAX_BUSY_MS : readAnsweredAt() > since ? MAX_ANSWER_MS : 0;
      if (now - startedAt < maxMs) waitFrom(now);
      else reject(new Error(`no answer within ${Math.round(now - startedAt)} ms`));
    };
    let timer: NodeJS.Timeout;
    const waitFrom = (since: number) => {
      timer = setTimeout(() => setImmediate(check, since), ANSWER_TIMEOUT_MS);
    };
    waitFrom(startedAt);
    answer.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
