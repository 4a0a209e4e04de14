import type { CacheEntry } from "./memory.ts";

/** A rendered page, as processes share it, with everything that is parsed or hashed of it. */
export type SharedPage = Pick<CacheEntry, "cacheControl" | "sharedLifetimes" | "bodies" | "lifetime" | "groups"> & {
  status: number;
  contentType: string | undefined;
  /** Without `Cache-Control` and `sharedLifetimes`. */
  headers: Record<string, string>;
  contentHash: string;
};

/** Durations are in milliseconds. */
export type StoreOptions = {
  /** An invalidation names one of them. */
  tags: string[];
  age: number;
  fresh: number;
  /** How long it is kept, also stale. */
  kept: number;
};

/** The right to render a page for all processes. One process has it at a time, and loses it if it hangs. */
export type Turn = {
  /**
   * Stores the page, ends the turn and resolves with the page's version. Resolves with "invalidated" if that happened
   * since the turn began, and with "lost" if another process may have the turn.
   */
  store: (page: SharedPage, options: StoreOptions) => Promise<{ version: string } | "invalidated" | "lost">;
  /** Ends the turn. If the page isn't cacheable any more, the old one is removed. */
  end: (options?: { isRemoved: boolean }) => void;
};

export type LookUp = {
  /** Undefined if there is no valid page. */
  version?: string | undefined;
  /** Undefined if the version is the one that the process has. */
  page?: SharedPage | undefined;
  /** In milliseconds. */
  age: number;
  isFresh: boolean;
  /** If it was asked for, the page isn't fresh, and no other process has it. */
  turn?: Turn | undefined;
};

/** Keeps cached pages for all processes. Its functions reject if it is down. */
export type PageStore = {
  /** Resolves once it can be asked. */
  connect: () => Promise<unknown>;
  lookUp: (key: string, options: { version: string | undefined; wantsTurn: boolean }) => Promise<LookUp>;
};

/** A page has these tags, and an invalidation removes some of them. */
export const tagsOf = {
  everything: "all",
  group: (group: string) => `group ${group}`,
  path: (pagePath: string) => `path ${pagePath}`,
};
