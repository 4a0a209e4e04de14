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
  // By default, the client doesn't connect again after a timeout.
  const socket = { socketTimeout: TIMEOUT_MS, reconnectStrategy: RETRY_INTERVAL_MS };
  const options = { url, socket, pingInterval: PING_INTERVAL_MS };
  const publisher = createClient({ ...options, disableOfflineQueue: true });
  const subscriber = createClient(options);
  publisher.on("error", () => {}).connect(); // Without a listener for errors, it doesn't connect again.
  return {
    publish: (message) => publisher.publish(CHANNEL, message),
    async subscribe(onMessage, onConnection) {
      subscriber.on("error", () => onConnection(false));
      await subscriber.connect();
      await subscriber.subscribe(CHANNEL, onMessage);
      onConnection(true);
      subscriber.on("ready", () => onConnection(true)); // It has subscribed again.
    },
  };
}
