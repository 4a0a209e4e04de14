import { LRUCache } from "lru-cache";
import { matchRoutes, type RouteObject } from "react-router";
import { keepsSegments } from "../http/request-target.ts";
import type { RouteEntry } from "../locals.ts";
import { type Base, ROOT, toSitePath, toUrlPath } from "./base-path.ts";
import { createDataFilter } from "./cache-rule.ts";
import { isDynamic, type Routes, toTree } from "./route-entry.ts";

/** React Router requests the data of a page at its path with this suffix: "/a.data", "/_.data". */
const DATA_SUFFIX = /(?:(?<=\/)_)?\.data$/;
/** A literal segment of a pattern. */
const LITERAL = /^[\w.~-]+$/;
/** Segments of a path that no suffix in a pattern can match, such as that of ":name.xml". */
const PLAIN_SEGMENTS = /(?<=\/)[\w-]+(?=\/|$)/g;
/** Delimiters that browsers don't encode in a path (WHATWG URL §1.3). */
const ENCODED_DELIMITER = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;
/** The number and length of the paths whose routes are cached, to bound their memory. */
const MAX_REMEMBERED = 2000;
const MAX_REMEMBERED_LENGTH = 200;

type Match = { route: RouteEntry; canonicalPath: string };

/** The path of a page, from its own path or that of its data. */
export function toPagePath(path: string) {
  return path.replace(DATA_SUFFIX, "");
}

/**
 * Finds the route of a path with React Router's `matchRoutes`, as the browser does: if they differed, hydration would
 * fail. `matchRoutes` compiles every route at each call (needed until React Router has remix-run/react-router#15186).
 * To save time:
 * - It gets only the routes whose literal segments are in the path.
 * - Its results are cached, also for the paths that differ only in segments that any parameter matches.
 * - If no route begins with the path's first segment, the path matches the splat.
 */
export function createRouteTable(manifest: Routes, isProduction: boolean, base: Base = ROOT) {
  const tree = toTree(manifest, isProduction);
  const routes = flatten(tree);
  const remembered = new LRUCache<string, Match>({ max: MAX_REMEMBERED });
  const shapes = new LRUCache<string, RouteEntry>({ max: MAX_REMEMBERED });

  const splat = routes.find(({ pattern }) => pattern === "/*");
  const firstSegments = new Set(routes.filter((route) => route !== splat).map(({ pattern }) => toSegments(pattern)[1]));
  const canSkip = splat !== undefined && ![...firstSegments].some((segment = "") => isDynamic(segment));

  const literals = new Map(
    routes.map((route) => [route, toSegments(route.pattern).filter((segment) => LITERAL.test(segment))]),
  );
  const words = new Set(routes.flatMap(({ pattern }) => pattern.toLowerCase().split(/[/?]/)));
  const toShape = (path: string) =>
    path.replace(PLAIN_SEGMENTS, (segment) => (words.has(segment.toLowerCase()) ? segment : " "));
  const selectCandidates = (tree: RouteObject[], segments: Set<string>): RouteObject[] =>
    tree
      .filter(({ handle }) => literals.get(handle)?.every((literal) => segments.has(literal)))
      .map((route) => (route.children ? { ...route, children: selectCandidates(route.children, segments) } : route));

  const findPage = (path: string): Match | undefined => {
    const found = remembered.get(path);
    if (found) return found;
    const unknown = splat && { route: splat, canonicalPath: splat.cacheKey ?? path };
    if (!keepsSegments(path)) return unknown;
    const segments = toSegments(decodeURIComponent(path));
    if (canSkip && !firstSegments.has(segments[1])) return unknown;
    const shape = toShape(path);
    const route: RouteEntry | undefined =
      shapes.get(shape) ?? matchRoutes(selectCandidates(tree, new Set(segments)), path)?.at(-1)?.route.handle;
    if (!route) return unknown; // Such as a path with %0A, which no pattern of React Router matches.
    const match = { route, canonicalPath: toCanonicalPath(path, route) };
    if (path.length > MAX_REMEMBERED_LENGTH) return match;
    shapes.set(copyString(shape), route);
    remembered.set(copyString(path), match);
    return match;
  };

  const findPageOrData = (path: string): Match | undefined => {
    const page = path.endsWith(".data") ? findPage(toPagePath(path)) : undefined;
    if (!page?.route.hasData) return findPage(path);
    const suffix = page.canonicalPath === "/" ? "_.data" : ".data";
    return { route: toDataEntry(page.route), canonicalPath: page.canonicalPath + suffix };
  };

  return {
    routes,
    /**
     * The route of a URL path, whether for the page or its data, and the canonical spelling of the path. Undefined
     * outside the base path.
     */
    findRoute(urlPath: string): Match | undefined {
      if (base.path === "/") return findPageOrData(urlPath);
      const path = toSitePath(base, urlPath);
      const match = path === undefined ? undefined : findPageOrData(path);
      return match && { route: match.route, canonicalPath: toUrlPath(base, match.canonicalPath) };
    },
  };
}

/**
 * The canonical path: paths that match a route with the same parameters have the same one. It is encoded as browsers
 * do, and has no trailing slashes, unless they are part of a splat. Its literal segments are spelt as in the pattern.
 */
function toCanonicalPath(path: string, { pattern, isCaseSensitive, cacheKey }: RouteEntry) {
  if (cacheKey !== undefined) return cacheKey;
  let end = path.length;
  while (path[end - 1] === "/" && !pattern.endsWith("*")) end -= 1;
  const expected = pattern.split("/");
  // With optional segments, the position in the path isn't that in the pattern, so each segment keeps its case.
  const isExact = isCaseSensitive || pattern.includes("?");
  const spell = (segment: string, index: number) => {
    const decoded = decodeURIComponent(segment);
    const literal = expected[index] ?? "";
    if (!isExact && !isDynamic(literal) && literal.toLowerCase() === decoded.toLowerCase()) return literal;
    return encodeURIComponent(decoded).replace(ENCODED_DELIMITER, decodeURIComponent);
  };
  return path.slice(0, end).split("/").map(spell).join("/") || "/";
}

/** The entry for requests for the route's data. Only the site's own pages send these. */
function toDataEntry(page: RouteEntry): RouteEntry {
  const { cacheRule, branch } = page;
  const filterQuery = cacheRule && createDataFilter(cacheRule.filterQuery, branch);
  return {
    ...page,
    isResource: false,
    acceptsCrossOrigin: [],
    cacheRule: filterQuery && { ...cacheRule, filterQuery },
  };
}

/** In lower case: routes match in any case unless they are case-sensitive. */
function toSegments(path: string) {
  return path.toLowerCase().split("/");
}

function flatten(tree: RouteObject[]): RouteEntry[] {
  return tree.flatMap(({ handle, children }) => [handle, ...flatten(children ?? [])]);
}

/** Copies a string, so that a cache key doesn't keep the whole request target in memory (V8's sliced strings). */
export function copyString(part: string) {
  return Buffer.from(part).toString();
}
