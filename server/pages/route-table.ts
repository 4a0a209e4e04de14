import { matchRoutes, type RouteObject, type ServerBuild } from "react-router";

type Routes = ServerBuild["routes"];
type Route = NonNullable<Routes[string]>;

/** What React Router's browser side appends to a page's path to request its data: "/a.data", "/_.data". */
const DATA_SUFFIX = /(?:(?<=\/)_)?\.data$/;

export const READ_METHODS = ["GET", "HEAD"];

/** What the server has to know of a route. */
export type RouteEntry = {
  id: string;
  /** The pattern of its path, from the root. */
  pattern: string;
  /** Whether one document, rendered at start, is sent to every request for it. */
  isPrerendered: boolean;
  /** Whether it, or a route around it, takes part in requests for data. */
  hasData: boolean;
  methods: string[];
};

/**
 * Finds the route of a path as React Router does in the browser: both must agree, or hydration
 * fails. Its `matchRoutes` decides, but compiles every route at each call (50 µs with two routes, 400 with twenty).
 * So paths without parameters are matched beforehand, and a path is the splat's when no
 * other route starts with its first segment. Time grows with the path's length; memory doesn't grow.
 */
export function createRouteTable(manifest: Routes) {
  const tree = toTree(manifest);
  const routes = Object.values(manifest).flatMap((route) => (route ? [toRouteEntry(route, manifest)] : []));
  const match = (path: string) => {
    const leaf = matchRoutes(tree, { pathname: path })?.at(-1);
    return routes.find(({ id }) => id === leaf?.route.id);
  };

  const staticRoutes = new Map<string, RouteEntry | undefined>();
  for (const { pattern } of routes) if (!isDynamic(pattern)) staticRoutes.set(pattern, match(pattern));

  const splat = routes.find(({ pattern }) => pattern === "/*");
  const firstSegments = routes.filter((route) => route !== splat).map(({ pattern }) => firstSegment(pattern));
  const knownSegments = new Set(firstSegments);
  const canSkip = splat !== undefined && !firstSegments.some(isDynamic);

  const findPage = (path: string) => {
    // Decoded, it may start as another route does, or hold a line break, which no splat matches.
    if (canSkip && !path.includes("%") && !knownSegments.has(firstSegment(path))) return splat;
    return staticRoutes.get(path) ?? match(path);
  };

  return {
    routes,
    /** The route whose page, or whose data, a path names. */
    findRoute(path: string): RouteEntry | undefined {
      const page = path.endsWith(".data") ? findPage(path.replace(DATA_SUFFIX, "")) : undefined;
      return page?.hasData ? { ...page, isPrerendered: false } : findPage(path);
    },
  };
}

function isDynamic(pattern: string) {
  return /[:*?]/.test(pattern);
}

/** In lower case: routes match in any case unless they say otherwise. */
function firstSegment(path: string) {
  const end = path.indexOf("/", 1);
  return path.slice(1, end === -1 ? undefined : end).toLowerCase();
}

function toTree(manifest: Routes, parentId?: string): RouteObject[] {
  return Object.values(manifest).flatMap((route) => {
    if (route?.parentId !== parentId || !route) return [];
    const { id, path, index, caseSensitive } = route;
    return [{ id, path, index, caseSensitive, children: index ? undefined : toTree(manifest, id) } as RouteObject];
  });
}

function toRouteEntry(route: Route, manifest: Routes): RouteEntry {
  const lineage = [route];
  for (let parent = manifest[route.parentId ?? ""]; parent; parent = manifest[parent.parentId ?? ""]) {
    lineage.unshift(parent);
  }
  const pattern = lineage.reduce(
    (before, { path = "" }) => (path.startsWith("/") ? path : path ? `${before.replace(/\/$/, "")}/${path}` : before),
    "/",
  );
  return {
    id: route.id,
    pattern,
    isPrerendered: (route.module.handle as { renderOnce?: boolean } | undefined)?.renderOnce === true,
    hasData: lineage.some(({ module }) => module.loader || module.action),
    methods: route.module.action ? [...READ_METHODS, "POST"] : READ_METHODS,
  };
}
