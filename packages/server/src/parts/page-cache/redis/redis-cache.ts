import type { CacheChannel } from "../invalidation.ts";
import { createChannel } from "./channel.ts";

type Options = {
  /** Of Redis or Valkey, such as `redis://user:password@host:6379`. */
  url: string;
};

/** Carries cache invalidations between the processes of a site over Redis or Valkey (docs/caching.md). */
export function createRedisCache({ url }: Options): CacheChannel {
  return createChannel(url);
}
