import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import * as v from "valibot";
import { parseRequestTarget } from "../../http/request-target.ts";
import type { Pages } from "../../site/pages.ts";
import { toPagePath } from "../../site/route-table.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import { createEntries, type Invalidation } from "./entries.ts";

/** Carries messages between the processes of a deployment (docs/caching.md). */
export type CacheChannel = {
  /** Sends a message to all processes. Rejects if it can't. */
  publish: (message: string) => Promise<unknown>;
  /** Registers a function for the messages of all processes, and one for the state of the connection. */
  subscribe: (onMessage: (message: string) => void, onConnection: (isConnected: boolean) => void) => void;
};

const MessageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    from: v.string(),
    groups: v.array(v.string()),
    paths: v.array(v.string()),
    everyGroup: v.optional(v.boolean(), false),
  }),
);

const RETRY_INTERVAL_MS = 1000;

type Options = Pick<Pages, "findRoute"> & { maxBytes: number; log: Logger; metrics: CacheMetrics };

/** The page cache of this process, whose entries every process of the deployment can invalidate. */
export function createCache({ maxBytes, log, metrics, findRoute }: Options) {
  const entries = createEntries(maxBytes, metrics);
  metrics.measureSize(entries.getSize);
  const processId = randomUUID();
  let channel: CacheChannel | undefined;
  /** The invalidations that could not be published. */
  let unpublished = 0;

  const send = async (invalidation: Invalidation) =>
    channel?.publish(JSON.stringify({ from: processId, ...invalidation }));

  /** Publishes an invalidation of every group, each second until it succeeds: other processes have missed messages. */
  async function retry() {
    while (unpublished > 0) {
      await setTimeout(RETRY_INTERVAL_MS, undefined, { ref: false });
      const included = unpublished; // More may fail while this message is being sent.
      const isSent = await send({ groups: [], paths: [], everyGroup: true }).then(
        () => true,
        () => false,
      );
      if (isSent) unpublished -= included;
    }
  }

  return {
    entries,
    /**
     * Invalidates the entries of cache groups, and those of the pages and data of paths. In this process it takes
     * effect at once. Resolves with the number of entries removed here, when the message to the others is sent or has
     * failed.
     */
    async invalidate(groups: string[], paths: string[] = []) {
      const targets = paths.flatMap((path) => parseRequestTarget(path) ?? []);
      const matches = targets.map(({ path }) => findRoute(path));
      const cached = matches.flatMap((match) => (match?.route.cacheRule ? [toPagePath(match.canonicalPath)] : []));
      const invalidation = { groups, paths: cached };
      if (groups.length + invalidation.paths.length === 0) return 0;
      metrics.recordInvalidation("local");
      const removed = entries.invalidate(invalidation);
      await send(invalidation).catch((err) => {
        unpublished += 1;
        if (unpublished > 1) return;
        log.warn({ err }, "cache invalidation not published");
        retry();
      });
      return removed;
    },
    /** Connects this process with the others. */
    connect(opened: CacheChannel) {
      channel = opened;
      let wasConnected: boolean | undefined;
      const onConnection = (isConnected: boolean) => {
        if (isConnected === wasConnected) return;
        if (!isConnected) log.warn("cache channel disconnected: responses with cache groups are revalidated after 1 s");
        else if (wasConnected === false) log.info("cache channel connected");
        wasConnected = isConnected;
        entries.setConnected(isConnected);
        metrics.setChannelConnected(isConnected);
      };
      entries.setConnected(false);
      const subscribing: unknown = opened.subscribe((text) => {
        const { success, output } = v.safeParse(MessageSchema, text);
        if (!success) return log.warn({ message: text }, "cache channel: message not understood");
        if (output.from === processId) return;
        metrics.recordInvalidation("received");
        entries.invalidate(output);
      }, onConnection);
      // It may be async. Without this, its rejection would end the process.
      Promise.resolve(subscribing).catch((err) => log.error({ err }, "cache channel not subscribed"));
    },
  };
}

export type Cache = ReturnType<typeof createCache>;
