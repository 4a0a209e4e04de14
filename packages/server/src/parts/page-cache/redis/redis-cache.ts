import type { CacheChannel } from "../invalidation.ts";
import { createChannel } from "./channel.ts";
import { createPageStore } from "./store.ts";

type Options = {
  /** Of Redis or Valkey, such as `redis://user:password@host:6379`. */
  url: string;
  /** Begins the name of each key. Sites that share a Redis need different ones. */
  prefix?: string;
};

/** Carries cache invalidations between the processes of a site over Redis or Valkey, and shares its cached pages. */
export function createRedisCache({ url, prefix = "page-cache" }: Options): CacheChannel {
  const keyPrefix = `{${prefix}} `; // In a cluster, keys with the same braces are on one node.
  return { ...createChannel(url, keyPrefix), store: createPageStore(url, keyPrefix) };
}
