import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { inTime } from "../../overload/index.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import { type Invalidation, pagePathOf } from "./memory.ts";
import { mergeWithin } from "./publisher.ts";

/** Purges a cache in front of the server, such as a CDN (docs/caching.md). */
export type Purge = {
  /** Returns the response headers for the tags of a cached page. Without it, pages have no tags. */
  toHeaders?: (tags: string[]) => Record<string, string>;
  /** The most tags that `send` gets at once. The others wait for the next call. The default is no limit. */
  maxTags?: number;
  /**
   * Purges the responses that have one of the tags. Rejects if it can't, and is then called again, after
   * `retryAfterSeconds` of the error at the earliest.
   */
  send: (invalidation: PurgedInvalidation) => Promise<unknown>;
};

export type PurgedInvalidation = Omit<Invalidation, "everything"> & { tags: string[] };

/** Invalidations within this time are purged together. Meanwhile, the other processes apply them. */
const BATCH_MS = 500;
const TIMEOUT_MS = 10_000;
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** The longest `retryAfterSeconds` that is followed. Cloudflare's API blocks clients for five minutes. */
const MAX_RETRY_AFTER_MS = 600_000;
/** In bytes. If more waits, every page is purged. */
const MAX_WAITING_BYTES = 16_000;
/** In a tag, these characters stay. The headers of caches separate tags by spaces or commas. */
const ENCODED = /[^\w/.:-]/g;

type Options = {
  /** The tag of every page. */
  site: string;
  log: Logger;
  metrics: Pick<CacheMetrics, "recordPurge" | "measurePurgeWait">;
};

/** Sends the invalidations of this process to a cache in front, in the background. */
export function createEdge({ site, log, metrics }: Options) {
  let purge: Purge | undefined;
  let waiting: Invalidation | undefined;
  let waitingSince: number | undefined;
  let failures = 0;
  let retryAfterMs = 0;
  let isRunning = false;
  let sending: Promise<void> | undefined;
  const closing = new AbortController();
  const getWait = () => (waitingSince === undefined ? 0 : (performance.now() - waitingSince) / 1000);
  metrics.measurePurgeWait(getWait);

  /** A page has no tags for prefixes. */
  const tagsOf = ({ groups, paths, prefixes, everything }: Invalidation) =>
    (everything || prefixes.length > 0 ? [site] : [...groups, ...paths]).map(toTag);

  async function send() {
    if (!purge || !waiting) return;
    const startedAt = performance.now();
    const [sent, rest] = takeTags(waiting, purge.maxTags);
    waiting = rest; // More may be added while this is being sent.
    try {
      const { groups, paths, prefixes } = sent;
      await inTime(purge.send({ groups, paths, prefixes, tags: tagsOf(sent) }), TIMEOUT_MS);
      metrics.recordPurge("sent");
      if (failures > 0) log.info("cache in front purged");
      failures = 0;
      waitingSince = rest ? waitingSince : waiting && startedAt;
    } catch (err) {
      metrics.recordPurge("failed");
      if (failures === 0) log.warn({ err }, "cache in front not purged");
      failures += 1;
      retryAfterMs = Math.min(
        Number((err as { retryAfterSeconds?: number }).retryAfterSeconds ?? 0) * 1000,
        MAX_RETRY_AFTER_MS,
      );
      waiting = mergeWithin(MAX_WAITING_BYTES, sent, waiting);
    }
  }

  async function sendAll() {
    isRunning = true;
    while (waiting) {
      const retryMs = Math.max(Math.min(MIN_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS), retryAfterMs);
      const options = { ref: false, signal: closing.signal };
      await setTimeout(failures === 0 ? BATCH_MS : retryMs, undefined, options).catch(() => {});
      if (closing.signal.aborted) return;
      sending = send();
      await sending;
    }
    isRunning = false;
  }

  return {
    /** Adds an invalidation, and returns at once. "retrying" if the last purge has failed. */
    add(invalidation: Invalidation) {
      if (!purge) return undefined;
      waiting = mergeWithin(MAX_WAITING_BYTES, invalidation, waiting);
      waitingSince ??= performance.now();
      if (!isRunning) sendAll();
      return failures === 0 ? ("queued" as const) : ("retrying" as const);
    },
    /** The headers with the tags of a page: names and values in turn. */
    tagHeadersOf(key: string, groups: string[]) {
      if (!purge?.toHeaders) return [];
      return Object.entries(purge.toHeaders([site, pagePathOf(key), ...groups].map(toTag))).flat();
    },
    describe() {
      if (!purge) return "none";
      return failures === 0 ? "purged after each edit" : `not purged for ${Math.round(getWait())} s, tried again`;
    },
    connect(opened: Purge) {
      purge = opened;
    },
    /** Sends what waits, until a purge fails. Logs if one does. */
    async close(timeoutMs: number) {
      closing.abort();
      const sendRest = async () => {
        await sending;
        do await send();
        while (waiting && failures === 0);
      };
      await inTime(sendRest(), timeoutMs).catch(() => {});
      if (waitingSince !== undefined) log.error("purges lost: purge the cache in front");
    },
  };
}

/** Returns the part of an invalidation that has at most `count` tags, and the rest. */
function takeTags(invalidation: Invalidation, count = Number.POSITIVE_INFINITY): [Invalidation, Invalidation?] {
  const { groups, paths, prefixes, everything } = invalidation;
  // One tag, that of the site.
  if (everything || prefixes.length > 0 || groups.length + paths.length <= count) return [invalidation];
  const pathCount = Math.max(0, count - groups.length);
  return [
    { ...invalidation, groups: groups.slice(0, count), paths: paths.slice(0, pathCount) },
    { ...invalidation, groups: groups.slice(count), paths: paths.slice(pathCount) },
  ];
}

const toTag = (text: string) => text.replace(ENCODED, (character) => `%${character.charCodeAt(0).toString(16)}`);

export type Edge = ReturnType<typeof createEdge>;
