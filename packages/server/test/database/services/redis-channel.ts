// npm install --save-prod --save-exact @redis/client
import { createClient } from "@redis/client";
import type { CacheChannel } from "react-router-express-server";

const CHANNEL = "cache_invalidation";
const RETRY_INTERVAL_MS = 500;
/** A ping without an answer detects a connection that was lost without a reset. */
const PING_INTERVAL_MS = 3000;
/** Longer than the interval, since pings keep an idle connection open. */
const TIMEOUT_MS = 5000;

/** Carries cache invalidations to every process with PUBLISH and SUBSCRIBE. */
export function createRedisChannel(url: string): CacheChannel {
  const connect = (reconnectStrategy: number | false) => {
    const socket = { socketTimeout: TIMEOUT_MS, reconnectStrategy };
    const client = createClient({ url, socket, pingInterval: PING_INTERVAL_MS });
    return client.on("error", () => {}); // Without a listener for errors, it throws them.
  };
  return {
    // A connection of its own: on a lost one, each message would postpone the timeout.
    async publish(message) {
      const publisher = connect(false);
      try {
        await publisher.connect();
        return await publisher.publish(CHANNEL, message);
      } finally {
        publisher.destroy();
      }
    },
    async subscribe(onMessage, onConnection) {
      const subscriber = connect(RETRY_INTERVAL_MS); // By default, it doesn't connect again after a timeout.
      subscriber.on("error", () => onConnection(false));
      await subscriber.connect();
      await subscriber.subscribe(CHANNEL, onMessage);
      onConnection(true);
      subscriber.on("ready", () => onConnection(true)); // It has subscribed again.
    },
  };
}
