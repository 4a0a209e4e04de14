import type { Logger } from "pino";
import * as v from "valibot";
import { parseRequestTarget } from "../../http/request-target.ts";
import { inTime } from "../../overload/index.ts";
import type { Pages } from "../../site/pages.ts";
import { toPagePath } from "../../site/route-table.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import { createEdge, type Purge } from "./edge.ts";
import { createFailures } from "./failures.ts";
import { createEntries, type Invalidation, pagePathOf } from "./memory.ts";
import type { PageStore } from "./page-store.ts";
import { createProcesses, ProcessSchema } from "./processes.ts";
import { createPublisher } from "./publisher.ts";
import { createSharedPages } from "./shared-pages.ts";

/** Carries messages between the processes of a deployment (docs/caching.md). */
export type CacheChannel = {
  /** Sends a message to all processes. Rejects if it can't. */
  publish: (message: string) => Promise<unknown>;
  /** Registers a function for the messages of all processes, and one for the state of the connection, with its error. */
  subscribe: (
    onMessage: (message: string) => void,
    onConnection: (isConnected: boolean, err?: unknown) => void,
  ) => void;
  /** Closes its connections at shutdown. */
  close?: () => Promise<unknown>;
  /** Keeps cached pages for all processes, until a message invalidates them. */
  store?: PageStore;
};

/** As long as services have to close. */
const CLOSE_TIMEOUT_MS = 2000;

const MessageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    ...ProcessSchema.entries,
    groups: v.array(v.string()),
    paths: v.array(v.string()),
    prefixes: v.optional(v.array(v.string()), []),
    everything: v.optional(v.boolean(), false),
  }),
);

type Options = Pick<Pages, "findRoute"> & {
  maxBytes: number;
  log: Logger;
  metrics: CacheMetrics;
  /** The site's name. */
  site: string;
  /** The processes of a release share cached pages. */
  release: string;
  shutdown: AbortSignal;
};

/** The page cache of this process, whose entries every process of the deployment can invalidate. */
export function createCache({ maxBytes, log, metrics, findRoute, site, release, shutdown }: Options) {
  const entries = createEntries(maxBytes, metrics);
  const failures = createFailures();
  metrics.measureSize(entries.getSize);
  const processes = createProcesses();
  const edge = createEdge({ site, log, metrics });
  // While it waited, the other processes may have sent old pages to the cache in front.
  const publisher = createPublisher({ shutdown, log, metrics, onLate: edge.add });
  const sharedPages = createSharedPages({ entries, log, metrics, release, isPublished: publisher.isIdle });
  let closeChannel: CacheChannel["close"];
  let channel: "none" | "connecting" | "connected" | "disconnected" = "none";

  /** The page of a cached route, and whether it is another path's, such as that of all unknown paths. */
  function findPage(path: string) {
    const target = parseRequestTarget(path);
    const match = target && findRoute(target.path);
    if (!match?.route.cacheRule) return undefined;
    const pagePath = toPagePath(match.canonicalPath);
    return { pagePath, isShared: match.route.cacheKey !== undefined && toPagePath(target?.path ?? "") !== pagePath };
  }

  async function apply(invalidation: Invalidation, purge?: string) {
    metrics.recordInvalidation("local");
    const keys = entries.invalidate(invalidation);
    const published = await publisher.publish({ ...invalidation, ...(purge && { purge }) });
    // Last, so that no other process sends an old page to the cache in front afterwards.
    const state = edge.add(invalidation);
    return { keys, ...published, ...(state && { edge: state }) };
  }

  return {
    entries,
    failures,
    sharedPages,
    /**
     * Invalidates the entries of cache groups, and those of the pages and data of paths. In this process it takes
     * effect at once. Resolves with the number of entries removed here, when the message to the others is sent or kept.
     */
    async invalidate(groups: string[], paths: string[] = []) {
      const pagePaths = paths.flatMap((path) => findPage(path)?.pagePath ?? []);
      if (groups.length + pagePaths.length === 0) return 0;
      return (await apply({ groups, paths: pagePaths, prefixes: [] })).keys.length;
    },
    /**
     * Invalidates for an operator, and resolves with the keys of the entries removed here, and which processes have
     * confirmed the invalidation.
     */
    purge({ groups, paths, prefixes }: Invalidation) {
      const pagePaths = paths.flatMap((path) => findPage(path)?.pagePath ?? []);
      return processes.confirm((purge) => apply({ groups, paths: pagePaths, prefixes }, purge));
    },
    /** Returns why an operator can't purge or see a path, if it isn't that of a cached page: it may be mistyped. */
    findMistake(path: string) {
      const page = findPage(path);
      if (!page) return `${path}: no cached page has this path`;
      return page.isShared
        ? `${path}: no cached page has this path; it shows the entry of ${page.pagePath}`
        : undefined;
    },
    /**
     * Describes the entries of a page and its data, and the renders that have failed since the last one that succeeded.
     */
    describePage(path: string) {
      const pagePath = findPage(path)?.pagePath ?? path;
      const cached = entries.list(pagePath);
      const failing = [...failures.entries()]
        .filter(([key]) => pagePathOf(key) === pagePath)
        .map(([key, { at, result, reason }]) => ({
          key,
          secondsAgo: Math.floor((performance.now() - at) / 1000),
          result,
          reason,
        }));
      return { path: pagePath, isCached: cached.length > 0, entries: cached, failures: failing };
    },
    /** Describes the channel to the other processes. */
    describeChannel: () => (publisher.isWaiting() ? `${channel}, invalidations wait to be published` : channel),
    /** The headers with a page's tags, for the cache in front. */
    tagHeadersOf: edge.tagHeadersOf,
    describeEdge: edge.describe,
    /** Connects this process with the cache in front. */
    connectEdge: (purge: Purge) => edge.connect(purge),
    /** Purges the cache in front a last time, and logs the invalidations that nobody else has got. */
    async close() {
      publisher.close();
      await Promise.all([edge.close(CLOSE_TIMEOUT_MS), inTime(processes.close(), CLOSE_TIMEOUT_MS).catch(() => {})]);
      await inTime(closeChannel?.(), CLOSE_TIMEOUT_MS).catch(() => {});
    },
    /** Connects this process with the others. */
    connect(opened: CacheChannel) {
      processes.connect(opened.publish);
      publisher.connect(processes.send);
      closeChannel = opened.close;
      if (opened.store) sharedPages.connect(opened.store);
      channel = "connecting";
      let wasConnected: boolean | undefined;
      const onConnection = (isConnected: boolean, err?: unknown) => {
        if (isConnected === wasConnected) return;
        if (!isConnected)
          log.warn({ err }, "cache channel disconnected: responses with cache groups are revalidated after 1 s");
        else if (wasConnected === false) log.info("cache channel connected");
        wasConnected = isConnected;
        channel = isConnected ? "connected" : "disconnected";
        entries.setConnected(isConnected);
        metrics.setChannelConnected(isConnected);
        if (isConnected) processes.announceName();
      };
      entries.setConnected(false);
      metrics.setChannelConnected(false);
      const subscribing: unknown = opened.subscribe((text) => {
        const { success, output } = v.safeParse(MessageSchema, text);
        if (!success) return log.warn({ message: text }, "cache channel: message not understood");
        if (processes.isOwn(output)) return;
        const { groups, paths, prefixes, everything } = output;
        if (everything || groups.length + paths.length + prefixes.length > 0) {
          metrics.recordInvalidation("received");
          entries.invalidate(output);
        }
        processes.receive(output);
      }, onConnection);
      // It may be async. Without this, its rejection would end the process.
      Promise.resolve(subscribing).catch((err) => log.error({ err }, "cache channel not subscribed"));
    },
  };
}

export type Cache = ReturnType<typeof createCache>;
