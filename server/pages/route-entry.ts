import { posix } from "node:path";
import type { RouteObject, ServerBuild } from "react-router";
import { parseSharedLifetime, type SharedLifetime } from "../http/cache-control.ts";
import { createQueryFilter, type QueryFilter } from "../http/no-vary-search.ts";
import type { AddedHeaders } from "../http/security-headers.ts";

export type Routes = ServerBuild["routes"];
type ServerBuildModule = NonNullable<Routes[string]>["module"];

export const READ_METHODS = ["GET", "HEAD"];
/** Those that React Router hands to an action. */
export const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"];

/** How a route's pages are kept, as it says in its `headers`, by `s-maxage` in `Cache-Control`. */
export type KeepingRule = {
  routeId: string;
  cacheControl: string;
  lifetime: SharedLifetime;
  /** Leaves the parameters of the query that make a difference (`No-Vary-Search`). */
  filterQuery: QueryFilter;
  /** The same for the page's data, of which React Router asks for some routes at a time. */
  filterDataQuery: QueryFilter;
};

/** What the server has to know of a route. */
export type RouteEntry = {
  id: string;
  /** The pattern of its path, from the root. */
  pattern: string;
  /** Whether its path, or that of a route around it, matches in the case of the pattern only. */
  isCaseSensitive: boolean;
  /** Whether one document, rendered at start, is sent to every request for it. */
  isRenderedOnce: boolean;
  kept: KeepingRule | undefined;
  /** Whether all its addresses show the same: a splat does without a loader, as the not-found page. */
  hasOneDocument: boolean;
  /** Whether it, or a route around it, takes part in requests for data. */
  hasData: boolean;
  /** Whether it has no component: its loader and action respond themselves. */
  isResource: boolean;
  /** With an action of its own; without a path, as an index route, with that of the route around it. */
  methods: string[];
  /** The largest body that it accepts, where it or a route around it says so (`handle.maxBodyBytes`). */
  maxBodyBytes: number | undefined;
  /** What it and the routes around it add to the security headers (`handle.securityHeaders`). */
  addedHeaders: AddedHeaders;
};

type Handle = { renderOnce?: boolean; maxBodyBytes?: number; securityHeaders?: AddedHeaders };

export function isDynamic(pattern: string) {
  return /[:*?]/.test(pattern);
}

/** The build's list as `matchRoutes` takes it, each route with its entry as `handle`. */
export function toTree(manifest: Routes, parent?: RouteEntry): RouteObject[] {
  return Object.values(manifest).flatMap((route) => {
    if (!route || route.parentId !== parent?.id) return [];
    const { id, path = "", index, caseSensitive, module } = route;
    const handle = module.handle as Handle | undefined;
    const isResource = !module.default && !module.ErrorBoundary;
    const isReadable = !isResource || module.loader;
    const hasAction = module.action || (path === "" && !isResource && parent?.methods.includes("POST"));
    const pattern = path.startsWith("/") ? path : posix.join("/", parent?.pattern ?? "", path);
    const entry: RouteEntry = {
      id,
      pattern,
      isCaseSensitive: Boolean(caseSensitive || parent?.isCaseSensitive),
      isRenderedOnce: handle?.renderOnce === true,
      // A resource route has no component, and React Router doesn't use its `headers`.
      kept: module.default ? toKeepingRule(id, module.headers) : undefined,
      hasOneDocument: !pattern.includes(":") && !(pattern.includes("*") && module.loader),
      hasData: Boolean(parent?.hasData || module.loader || module.action),
      isResource,
      methods: [...(isReadable ? READ_METHODS : []), ...(hasAction ? ACTION_METHODS : [])],
      maxBodyBytes: handle?.maxBodyBytes ?? parent?.maxBodyBytes,
      addedHeaders: joinHeaders(parent?.addedHeaders, handle?.securityHeaders),
    };
    const children = index ? undefined : toTree(manifest, entry);
    return [{ id, path: route.path, index, caseSensitive, handle: entry, children } as RouteObject];
  });
}

/** Lists go on; of what is no list the inner route's value counts. */
function joinHeaders(outer: AddedHeaders = {}, inner: AddedHeaders = {}) {
  const joined = { ...outer, ...inner };
  const separators = { "Content-Security-Policy": "; ", "Permissions-Policy": ", " };
  for (const [name, separator] of Object.entries(separators)) {
    if (name in outer && name in inner) joined[name] = outer[name] + separator + inner[name];
  }
  return joined;
}

/** Of headers that take arguments nothing is known before a render: such a page is rendered for each request. */
function toKeepingRule(routeId: string, said: ServerBuildModule["headers"]): KeepingRule | undefined {
  if (typeof said === "function" && said.length > 0) return undefined;
  const headers = new Headers(typeof said === "function" ? (said as () => HeadersInit)() : said);
  const cacheControl = headers.get("Cache-Control") ?? "";
  const lifetime = parseSharedLifetime(cacheControl);
  if (!lifetime) return undefined;
  const noVarySearch = headers.get("No-Vary-Search");
  return {
    routeId,
    cacheControl,
    lifetime,
    filterQuery: createQueryFilter(noVarySearch),
    filterDataQuery: createQueryFilter(noVarySearch, ["_routes"]),
  };
}
