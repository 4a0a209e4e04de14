import type { ServerBuild } from "react-router";
import { parseSharedLifetime } from "../http/cache-control.ts";
import { createQueryFilter, type QueryFilter } from "../http/no-vary-search.ts";

type HeadersExport = NonNullable<ServerBuild["routes"][string]>["module"]["headers"];

/** How a route is cached: its `headers` export sets `s-maxage`. */
export type CacheRule = {
  /** The default headers of its responses. */
  headers: Headers;
  filterQuery: QueryFilter;
  /** The filter for data requests. It keeps `_routes`, which lists the loaders to run. */
  filterDataQuery: QueryFilter;
};

/** Returns undefined if the route isn't cached. */
export function createCacheRule(exported: HeadersExport, cacheKey: string | undefined): CacheRule | undefined {
  const headers = callHeaders(exported);
  if (!parseSharedLifetime(headers.get("Cache-Control") ?? "")) return undefined;
  const noVarySearch = cacheKey === undefined ? headers.get("No-Vary-Search") : "params";
  return {
    headers,
    filterQuery: createQueryFilter(noVarySearch),
    filterDataQuery: createQueryFilter(noVarySearch, ["_routes"]),
  };
}

/** Calls `headers` as for a route whose loader sets none. If the function throws, the route isn't cached. */
function callHeaders(exported: HeadersExport) {
  if (typeof exported !== "function") return new Headers(exported);
  const empty = () => new Headers();
  const args = { loaderHeaders: empty(), parentHeaders: empty(), actionHeaders: empty(), errorHeaders: undefined };
  try {
    return new Headers(exported(args));
  } catch {
    return empty();
  }
}
