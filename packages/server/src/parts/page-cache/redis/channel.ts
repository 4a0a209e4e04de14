import { createClient } from "@redis/client";
import type { CacheChannel } from "../invalidation.ts";

const CHANNEL = "cache_invalidation";
const RETRY_INTERVAL_MS = 500;
/** A ping without an answer detects a connection that was lost without a reset. */
const PING_INTERVAL_MS = 3000;
/** Longer than the interval, since pings keep an idle connection open. */
const TIMEOUT_MS = 5000;
/** Edits wait while a message is published. */
const PUBLISH_TIMEOUT_MS = 2000;

/** Carries messages to every process with PUBLISH and SUBSCRIBE. */
export function createChannel(url: string): CacheChannel {
  const subscriber = createClient({
    url,
    pingInterval: PING_INTERVAL_MS,
    // By default, it doesn't connect again after a timeout.
    socket: { socketTimeout: TIMEOUT_MS, reconnectStrategy: RETRY_INTERVAL_MS },
  });
  return {
    // A connection of its own: on a lost one, each message would postpone the timeout.
    async publish(message) {
      const timeouts = { connectTimeout: PUBLISH_TIMEOUT_MS, socketTimeout: PUBLISH_TIMEOUT_MS };
      const publisher = createClient({ url, socket: { ...timeouts, reconnectStrategy: false } });
      publisher.on("error", () => {}); // Without a listener, errors would also end the process.
      try {
        await publisher.connect();
        return await publisher.publish(CHANNEL, message);
      } finally {
        publisher.destroy();
      }
    },
    subscribe(onMessage, onConnection) {
      subscriber.on("error", () => onConnection(false));
      // It subscribes again by itself, unless the connection was lost before.
      subscriber.on("ready", () =>
        subscriber.subscribe(CHANNEL, onMessage).then(
          () => onConnection(true),
          () => onConnection(false),
        ),
      );
      subscriber.connect();
    },
  };
}
