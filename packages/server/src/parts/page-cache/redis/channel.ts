import { setTimeout } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import * as v from "valibot";
import type { CacheChannel } from "../invalidation.ts";
import { tagsOf } from "../page-store.ts";

const RETRY_INTERVAL_MS = 500;
/** A ping without an answer detects a connection that was lost without a reset. */
const PING_INTERVAL_MS = 3000;
/** Longer than the interval, since pings keep an idle connection open. */
const TIMEOUT_MS = 5000;
/** Edits wait while a message is published. */
const PUBLISH_TIMEOUT_MS = 2000;

const EVERYTHING = [tagsOf.everything];
const MessageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    groups: v.array(v.string()),
    paths: v.array(v.string()),
    prefixes: v.array(v.string()),
    everything: v.optional(v.boolean()),
  }),
);

/** The tags of the pages that a message invalidates. Pages have no tags for prefixes. */
function findTags(message: string) {
  const { success, output } = v.safeParse(MessageSchema, message);
  if (!success || output.everything || output.prefixes.length > 0) return EVERYTHING;
  return [...output.groups.map(tagsOf.group), ...output.paths.map(tagsOf.path)];
}

/** Carries messages to every process with PUBLISH and SUBSCRIBE, and invalidates the pages of the store. */
export function createChannel(url: string, prefix: string): CacheChannel {
  const name = `${prefix}invalidations`;
  const subscriber = createClient({
    url,
    pingInterval: PING_INTERVAL_MS,
    // By default, it doesn't connect again after a timeout.
    socket: { socketTimeout: TIMEOUT_MS, reconnectStrategy: RETRY_INTERVAL_MS },
  });

  /** Invalidates the pages with tags, if any, and publishes the message, if there is one, in the same transaction. */
  async function invalidate(tags: string[], message?: string) {
    const timeouts = { connectTimeout: PUBLISH_TIMEOUT_MS, socketTimeout: PUBLISH_TIMEOUT_MS };
    // A connection of its own: on a lost one, each message would postpone the timeout.
    const publisher = createClient({ url, socket: { ...timeouts, reconnectStrategy: false } });
    publisher.on("error", () => {}); // Without a listener, errors would also end the process.
    try {
      await publisher.connect();
      // No transaction, which a full Redis rejects.
      if (tags.length > 0) await publisher.del([`${prefix}epoch`, ...tags.map((tag) => `${prefix}tag ${tag}`)]);
      if (message !== undefined) await publisher.publish(name, message);
    } finally {
      publisher.destroy();
    }
  }

  const tryInvalidate = () =>
    invalidate(EVERYTHING).then(
      () => true,
      () => false,
    );

  return {
    publish: (message) => invalidate(findTags(message), message),
    subscribe(onMessage, onConnection) {
      let hasConnected = false;
      subscriber.on("error", (err) => {
        // A Redis that can't write its disk refuses pings (MISCONF), and keeps the connection: no "ready" would follow.
        if (!(err instanceof ErrorReply && subscriber.isReady)) onConnection(false, err);
      });
      subscriber.on("ready", async () => {
        try {
          // It subscribes again by itself, unless the connection was lost before.
          await subscriber.subscribe(name, onMessage);
          // This may be another Redis, such as a replica that lacks the last invalidations.
          while (hasConnected && subscriber.isReady && !(await tryInvalidate())) await setTimeout(RETRY_INTERVAL_MS);
          if (!subscriber.isReady) return;
          hasConnected = true;
          onConnection(true);
        } catch (err) {
          onConnection(false, err);
        }
      });
      subscriber.connect();
    },
  };
}
