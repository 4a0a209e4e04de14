// npm install --save-prod --save-exact @redis/client
import { createClient } from "@redis/client";
import type { CacheChannel } from "react-router-express-server";

const CHANNEL = "cache_invalidation";

/** Carries cache invalidations to every process with PUBLISH and SUBSCRIBE. */
export function createRedisChannel(url: string): CacheChannel {
  const publisher = createClient({ url, disableOfflineQueue: true });
  const subscriber = createClient({ url, pingInterval: 5000 });
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
