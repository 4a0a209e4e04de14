import { matchRoutes, type RouteObject, type ServerBuild } from "react-router";

type Routes = ServerBuild["routes"];
type Route = NonNullable<Routes[string]>;

/** What React Router's browser side adds to a page's path to ask for its data: "/a.data", "/_.data". */
const DATA_SUFFIX = /(?:(?<=\/)_)?\.data$/;

export const READ_METHODS = ["GET", "HEAD"];

/** What the server has to know of the route that answers an address. */
export type Target = {
  id: string;
  /** The pattern of its address, from the root. */
  pattern: string;
  /** Whether one document, rendered at start, answers every request for it. */
  renderOnce: boolean;
  /** Whether it, or a route around it, takes part in requests for data. */
  hasData: boolean;
  /** The methods that it answers. */
  methods: string[];
};

/**
 * Finds the route of a path as React Router does in the browser: both must agree, or hydration
 * fails. Its `matchRoutes` decides, but that compiles every route at each call. So the paths
 * without parameters are matched beforehand, and a path goes straight to the splat when no
 * other route begins as it does. Time grows with the path's length, memory with nothing.
 */
export function createRouteTable(routes: Routes) {
  const tree = toTree(routes);
  const targets = Object.values(routes).flatMap((route) => (route ? [toTarget(route, routes)] : []));
  const match = (path: string) => {
    const leaf = matchRoutes(tree, { pathname: path })?.at(-1);
    return targets.find(({ id }) => id === leaf?.route.id);
  };

  const exact = new Map<string, Target | undefined>();
  for (const { pattern } of targets) if (!isDynamic(pattern)) exact.set(pattern, match(pattern));

  const splat = targets.find(({ pattern }) => pattern === "/*");
  const beginnings = targets.filter((target) => target !== splat).map(({ pattern }) => firstSegment(pattern));
  const known = new Set(beginnings);
  const canSkip = splat !== undefined && !beginnings.some(isDynamic);

  const findPage = (path: string) => {
    // Decoded, it may begin as another route does, or hold a line break, which no splat matches.
    if (canSkip && !path.includes("%") && !known.has(firstSegment(path))) return splat;
    return exact.get(path) ?? match(path);
  };

  return {
    targets,
    /** The route that answers a path, or whose data the path asks for. */
    find(path: string): Target | undefined {
      const page = path.endsWith(".data") ? findPage(path.replace(DATA_SUFFIX, "")) : undefined;
      return page?.hasData ? { ...page, renderOnce: false } : findPage(path);
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

function toTree(routes: Routes, parentId?: string): RouteObject[] {
  return Object.values(routes).flatMap((route) => {
    if (route?.parentId !== parentId || !route) return [];
    const { id, path, index, caseSensitive } = route;
    return [{ id, path, index, caseSensitive, children: index ? undefined : toTree(routes, id) } as RouteObject];
  });
}

function toTarget(route: Route, routes: Routes): Target {
  const lineage = [route];
  for (let parent = routes[route.parentId ?? ""]; parent; parent = routes[parent.parentId ?? ""]) {
    lineage.unshift(parent);
  }
  const pattern = lineage.reduce(
    (before, { path = "" }) => (path.startsWith("/") ? path : path ? `${before.replace(/\/$/, "")}/${path}` : before),
    "/",
  );
  return {
    id: route.id,
    pattern,
    renderOnce: (route.module.handle as { renderOnce?: boolean } | undefined)?.renderOnce === true,
    hasData: lineage.some(({ module }) => module.loader || module.action),
    methods: route.module.action ? [...READ_METHODS, "POST"] : READ_METHODS,
  };
}
