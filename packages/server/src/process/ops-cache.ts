import { parseRequestTarget } from "../http/request-target.ts";
import type { Cache } from "../parts/page-cache/invalidation.ts";
import type { Page, Section } from "./ops-page.ts";

/** What the operators' port needs of the page cache. */
export type OpsCache = Pick<Cache, "purge" | "findMistake" | "describePage" | "describeChannel" | "describeEdge"> & {
  entries: Pick<Cache["entries"], "describe" | "listExtremes" | "getSize">;
};

/** An answer lists this many keys. */
const MAX_KEYS = 100;
/** By the `others` of an answer. */
export const STATUSES = { "no channel": 200, published: 200, unconfirmed: 202, waiting: 202, failed: 503 };
/** For people, and in docs/reference.md. */
export const OTHERS = {
  "no channel": "without a channel, purge each of the other processes",
  published: "each process heard from in the last hour has confirmed",
  unconfirmed: "some processes haven't confirmed: they purge once they are connected again, or have ended",
  waiting: "the other processes will be told: this process tries again each second",
  failed: "this process is shutting down: purge the others through another one",
};

/** By the `edge` of an answer, if the site purges a cache in front. */
export const EDGES = {
  queued: "the cache in front is purged within a second",
  retrying: "the cache in front isn't purged: this process tries again",
};

/** `GET /cache`: the entries by route or, with `path`, those of a page. Returns the status and the body. */
export function describeCache(cache: OpsCache, query: URLSearchParams) {
  const path = query.get("path");
  if (path === null) return [200, cache.entries.describe()] as const;
  const mistake = cache.findMistake(path);
  return mistake ? ([404, mistake] as const) : ([200, cache.describePage(path)] as const);
}

/** `POST /cache/invalidate`: removes entries in this process, and tells the others. */
export async function purgeCache(cache: OpsCache, query: URLSearchParams) {
  const [groups, paths] = [query.getAll("group"), query.getAll("path")];
  const prefixes = query.has("all") ? ["/"] : query.getAll("prefix");
  if (groups.length + paths.length + prefixes.length === 0)
    return [400, "?group=NAME, ?path=PATH, ?prefix=/PATH/ or ?all is missing"] as const;
  const starts = prefixes.map((prefix) => parseRequestTarget(prefix)?.decodedPath);
  if (!starts.every((start) => start !== undefined)) return [400, "a prefix begins with /"] as const;
  // Nothing is purged if one path is mistyped, so that the operator can repeat all of the request.
  const mistakes = paths.flatMap((path) => cache.findMistake(path) ?? []);
  if (mistakes.length > 0) return [404, mistakes.join("\n")] as const;
  const { keys, ...purged } = await cache.purge({ groups, paths, prefixes: starts });
  return [STATUSES[purged.others], { invalidated: keys.length, keys: keys.slice(0, MAX_KEYS), ...purged }] as const;
}

/** The answer to a purge, for people. */
export function describePurge([status, answer]: Awaited<ReturnType<typeof purgeCache>>): Page {
  if (typeof answer === "string") return { title: "Nothing purged", state: answer, isGood: false, sections: [] };
  const { invalidated, keys, others, confirmed = [], unconfirmed = [], edge } = answer;
  const processes: Section = {
    heading: "Processes",
    isWide: true,
    columns: [{ name: "Process", isLong: true }, { name: "Purge" }],
    rows: [
      ...confirmed.map((name) => [name, "confirmed"]),
      ...unconfirmed.map((name) => [name, { text: "not confirmed", isBad: true }]),
    ],
  };
  return {
    title: `Purged: ${invalidated}`,
    state: edge ? `${OTHERS[others]}; ${EDGES[edge]}` : OTHERS[others],
    isGood: status < 300 && unconfirmed.length === 0 && edge !== "retrying",
    sections: [
      ...(confirmed.length > 0 ? [processes] : []),
      {
        heading: "Entries removed in this process",
        note: invalidated > keys.length ? `The first ${keys.length} of ${invalidated}.` : "",
        isWide: true,
        columns: [{ name: "Cache key", isLong: true }],
        rows: keys.map((key) => [key]),
      },
    ],
  };
}
