import { posix } from "node:path";
import { matchRoutes, type RouteObject, type ServerBuild } from "react-router";
import { parseSharedLifetime, type SharedLifetime } from "../http/cache-control.ts";
import { createQueryFilter, type QueryFilter } from "../http/no-vary-search.ts";
import type { AddedHeaders } from "../http/security-headers.ts";

type Routes = ServerBuild["routes"];
type ServerBuildModule = NonNullable<Routes[string]>["module"];

/** What React Router's browser side appends to a page's path to request its data: "/a.data", "/_.data". */
const DATA_SUFFIX = /(?:(?<=\/)_)?\.data$/;

export const READ_METHODS = ["GET", "HEAD"];
/** Those that React Router hands to an action. */
export const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"];

/** How a page is kept that says so in its `headers`, by `s-maxage` in `Cache-Control`. */
export type KeptPage = {
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
  /** Whether one document, rendered at start, is sent to every request for it. */
  isPrerendered: boolean;
  kept: KeptPage | undefined;
  /** Whether all its addresses show the same: a splat does without a loader, as the not-found page. */
  hasOneDocument: boolean;
  /** Whether it, or a route around it, takes part in requests for data. */
  hasData: boolean;
  /** With an action of its own or of a route around it, which is an index route's, unless the query names `index`. */
  methods: string[];
  /** The largest body that it accepts, where it or a route around it says so (`handle.maxBodyBytes`). */
  maxBodyBytes: number | undefined;
  /** What it and the routes around it add to the security headers (`handle.securityHeaders`). */
  addedHeaders: AddedHeaders;
};

type Handle = { renderOnce?: boolean; maxBodyBytes?: number; securityHeaders?: AddedHeaders };

/**
 * Finds the route of a path as React Router does in the browser: both must agree, or hydration
 * fails. Its `matchRoutes` decides, but compiles every route at each call (50 µs with two routes, 400 with twenty).
 * So paths without parameters are matched beforehand, and a path is the splat's when no
 * other route starts with its first segment. Time grows with the path's length; memory doesn't grow.
 */
export function createRouteTable(manifest: Routes) {
  const tree = toTree(manifest);
  const routes = flatten(tree);
  const match = (path: string): RouteEntry | undefined => matchRoutes(tree, { pathname: path })?.at(-1)?.route.handle;

  const staticRoutes = new Map<string, RouteEntry | undefined>();
  for (const { pattern } of routes) if (!isDynamic(pattern)) staticRoutes.set(pattern, match(pattern));

  const splat = routes.find(({ pattern }) => pattern === "/*");
  const firstSegments = routes.filter((route) => route !== splat).map(({ pattern }) => firstSegment(pattern));
  const knownSegments = new Set(firstSegments);
  const canSkip = splat !== undefined && !firstSegments.some(isDynamic);

  const findPage = (path: string) => {
    // Decoded, it may start as another route does.
    if (canSkip && !path.includes("%") && !knownSegments.has(firstSegment(path))) return splat;
    return staticRoutes.get(path) ?? match(path);
  };

  return {
    routes,
    /** The route whose page, or whose data, a path names. */
    findRoute(path: string): RouteEntry | undefined {
      const page = path.endsWith(".data") ? findPage(path.replace(DATA_SUFFIX, "")) : undefined;
      // A line break matches no pattern of React Router's; in the browser the root's error page then shows the same.
      return page?.hasData ? toDataEntry(page) : (findPage(path) ?? splat);
    },
  };
}

/** The same route, asked for data. */
function toDataEntry(page: RouteEntry): RouteEntry {
  const kept = page.kept && { ...page.kept, filterQuery: page.kept.filterDataQuery };
  return { ...page, isPrerendered: false, kept };
}

export function isDynamic(pattern: string) {
  return /[:*?]/.test(pattern);
}

/** In lower case: routes match in any case unless they say otherwise. */
function firstSegment(path: string) {
  const end = path.indexOf("/", 1);
  return path.slice(1, end === -1 ? undefined : end).toLowerCase();
}

/** The build's list as `matchRoutes` takes it, each route with its entry as `handle`. */
function toTree(manifest: Routes, parent?: RouteEntry): RouteObject[] {
  return Object.values(manifest).flatMap((route) => {
    if (!route || route.parentId !== parent?.id) return [];
    const { id, path = "", index, caseSensitive, module } = route;
    const handle = module.handle as Handle | undefined;
    const pattern = path.startsWith("/") ? path : posix.join("/", parent?.pattern ?? "", path);
    const entry: RouteEntry = {
      id,
      pattern,
      isPrerendered: handle?.renderOnce === true,
      // A resource route has no component, and React Router doesn't use its `headers`.
      kept: module.default ? toKeptPage(id, module.headers) : undefined,
      hasOneDocument: !pattern.includes(":") && !(pattern.includes("*") && module.loader),
      hasData: Boolean(parent?.hasData || module.loader || module.action),
      methods: module.action ? [...READ_METHODS, ...ACTION_METHODS] : (parent?.methods ?? READ_METHODS),
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
function toKeptPage(routeId: string, said: ServerBuildModule["headers"]): KeptPage | undefined {
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

function flatten(tree: RouteObject[]): RouteEntry[] {
  return tree.flatMap(({ handle, children }) => [handle, ...flatten(children ?? [])]);
}
