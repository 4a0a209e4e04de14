import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { inTime } from "../../overload/index.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import type { Invalidation } from "./memory.ts";

/** An edit waits this long for its message to be published. */
const PUBLISH_TIMEOUT_MS = 2000;
const RETRY_INTERVAL_MS = 1000;
/** In bytes. A message over PostgreSQL (NOTIFY) has 8,000 at most. */
const MAX_WAITING_BYTES = 4000;
const EVERYTHING: Invalidation = { groups: [], paths: [], prefixes: [], everything: true };

export type Published = {
  /** Whether the others are told at once, later, or not at all, since this process shuts down. */
  others: "no channel" | "published" | "waiting" | "failed";
};

type Options = {
  shutdown: AbortSignal;
  log: Logger;
  metrics: Pick<CacheMetrics, "measurePublishWait">;
  /** Gets an invalidation that was published after it had waited. */
  onLate: (invalidation: Invalidation) => void;
};

/** Sends invalidations to the other processes. One that can't be sent waits, and is sent again until it succeeds. */
export function createPublisher({ shutdown, log, metrics, onLate }: Options) {
  let send: ((invalidation: Invalidation) => Promise<unknown>) | undefined;
  /** All that couldn't be sent, in one. Beyond the limit, every entry expires elsewhere. */
  let waiting: Invalidation | undefined;
  let waitingSince: number | undefined;
  let isRetrying = false;
  let sending = 0;
  let isClosed = false;
  metrics.measurePublishWait(() => (waitingSince === undefined ? 0 : (performance.now() - waitingSince) / 1000));

  async function trySend(invalidation: Invalidation) {
    sending += 1;
    try {
      return await inTime(send?.(invalidation), PUBLISH_TIMEOUT_MS);
    } finally {
      sending -= 1;
    }
  }

  function keep(invalidation: Invalidation) {
    waiting = mergeWithin(MAX_WAITING_BYTES, invalidation, waiting);
    waitingSince ??= performance.now();
  }

  async function retry() {
    isRetrying = true;
    while (waiting) {
      await setTimeout(RETRY_INTERVAL_MS, undefined, { ref: false });
      if (isClosed) return;
      const sent: Invalidation = waiting;
      const sentAt = performance.now();
      waiting = undefined; // More may be kept while this message is being sent.
      try {
        await trySend(sent);
        waitingSince = waiting && sentAt;
        onLate(sent);
      } catch {
        keep(sent);
      }
    }
    isRetrying = false;
    log.info("cache invalidations published");
  }

  return {
    /**
     * Resolves when the message is sent, or after 2 s, and never rejects. While earlier ones wait, it waits with them,
     * so that edits don't wait for a channel that is down.
     */
    async publish(invalidation: Invalidation): Promise<Published> {
      if (!send) return { others: "no channel" };
      try {
        if (!isRetrying) {
          await trySend(invalidation);
          return { others: "published" };
        }
      } catch (err) {
        if (!isRetrying) log.warn({ err }, "cache invalidation not published");
      }
      keep(invalidation);
      if (!isRetrying) retry();
      return { others: shutdown.aborted ? "failed" : "waiting" };
    },
    /** Whether messages wait until they can be sent. */
    isWaiting: () => isRetrying,
    /** Whether nothing waits, and nothing is being sent. */
    isIdle: () => !isRetrying && sending === 0,
    connect(sendMessage: typeof send) {
      send = sendMessage;
    },
    /** Ends the retries. Logs if invalidations wait. */
    close() {
      isClosed = true;
      if (isRetrying) log.error("cache invalidations lost: purge the other processes");
    },
  };
}

/** Merges invalidations into one. Beyond the limit, in bytes, that is one of everything. */
export function mergeWithin(maxBytes: number, invalidation: Invalidation, earlier?: Invalidation) {
  const merged = earlier ? merge(earlier, invalidation) : invalidation;
  return Buffer.byteLength(JSON.stringify(merged)) > maxBytes ? EVERYTHING : merged;
}

function merge(a: Invalidation, b: Invalidation): Invalidation {
  const unite = (name: "groups" | "paths" | "prefixes") => [...new Set([...a[name], ...b[name]])];
  const everything = a.everything || b.everything || false;
  return { groups: unite("groups"), paths: unite("paths"), prefixes: unite("prefixes"), everything };
}
