import type { ServerBuild } from "react-router";
import * as v from "valibot";
import { parseSharedLifetime } from "../http/cache-control.ts";
import { createQueryFilter, nameOf, type QueryFilter } from "../http/no-vary-search.ts";
import type { CacheRule } from "../locals.ts";
import { type Handle, VariantsSchema } from "../pages/handle.ts";
import { createVariants } from "./variants.ts";

/** The parameter of React Router's data requests. */
const ROUTES = "_routes";

type HeadersExport = NonNullable<ServerBuild["routes"][string]>["module"]["headers"];

/** Returns undefined if the route isn't cached. */
export function createCacheRule(exported: HeadersExport, handle: Handle = {}): CacheRule | undefined {
  const headers = callHeaders(exported);
  if (!parseSharedLifetime(headers.get("Cache-Control") ?? "")) return undefined;
  const noVarySearch = handle.cacheKey === undefined ? headers.get("No-Vary-Search") : "params";
  // checkRoutes rejects others.
  const variants = v.is(VariantsSchema, handle.variants) ? createVariants(handle.variants) : undefined;
  return { headers, filterQuery: createQueryFilter(noVarySearch), variants };
}

/**
 * The filter for data requests. `_routes` lists the routes whose loaders run, and those of the page alone make a
 * difference: `ids` are the page's and its parents'.
 */
export function createDataFilter(filterQuery: QueryFilter, ids: string[]): QueryFilter {
  return (query) => {
    const asked = new URLSearchParams(query).get(ROUTES)?.split(",");
    if (!asked) return filterQuery(query);
    const others = query
      .slice(1)
      .split("&")
      .filter((pair) => nameOf(pair) !== ROUTES);
    const routes = new URLSearchParams({ [ROUTES]: ids.filter((id) => asked.includes(id)).join(",") });
    const filtered = filterQuery(`?${others.join("&")}`);
    return `${filtered.length > 1 ? `${filtered}&` : "?"}${routes}`;
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
