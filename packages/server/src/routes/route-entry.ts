import { posix } from "node:path";
import type { RouteObject, ServerBuild } from "react-router";
import type { Handle } from "../app/handle.ts";
import type { AddedHeaders } from "../security/security-headers.ts";
import { type CacheRule, createCacheRule } from "./cache-rule.ts";

export type Routes = ServerBuild["routes"];

export const READ_METHODS = ["GET", "HEAD"];
/** React Router runs an action for these. */
export const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"];

/** The properties of a route that the server uses. */
export type RouteEntry = {
  id: string;
  /** Its id and those of its parent routes, from the root. */
  branch: string[];
  /** The pattern of its path, from the root. */
  pattern: string;
  /** Whether its path, or that of a parent route, is case-sensitive. */
  isCaseSensitive: boolean;
  cacheRule: CacheRule | undefined;
  /** The path that is rendered and cached for every path that the route matches, if it sets one. */
  cacheKey: string | undefined;
  /** Whether it, or a parent route, has data. */
  hasData: boolean;
  /** Whether it has no component and no ErrorBoundary: its loader and action respond themselves. */
  isResource: boolean;
  /** The methods of its loader and action. A route without a path, such as an index, also has its parent's action. */
  methods: string[];
  /** The methods of cross-origin requests that its action accepts (`handle.acceptsCrossOrigin`). */
  acceptsCrossOrigin: string[];
  /** The largest body, if it or a parent route sets it (`handle.maxBodyBytes`). URL-encoded forms: at most 100 KB. */
  maxBodyBytes: number | undefined;
  /** The additions of it and its parent routes to the security headers (`handle.securityHeaders`). */
  addedHeaders: AddedHeaders;
};

export function isDynamic(pattern: string) {
  return /[:*?]/.test(pattern);
}

/** Converts the build's routes for `matchRoutes`. The `handle` of each is its RouteEntry. */
export function toTree(manifest: Routes, isProduction: boolean, parent?: RouteEntry): RouteObject[] {
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
      branch: [...(parent?.branch ?? []), id],
      pattern,
      isCaseSensitive: Boolean(caseSensitive || parent?.isCaseSensitive),
      cacheRule: isReadable ? createCacheRule(module.headers, handle?.cacheKey) : undefined,
      cacheKey: handle?.cacheKey,
      // In development, every page counts as having data: Vite's client requests it after an edit.
      hasData: Boolean(parent?.hasData || module.loader || module.action) || !isProduction,
      isResource,
      methods: [...(isReadable ? READ_METHODS : []), ...(hasAction ? ACTION_METHODS : [])],
      acceptsCrossOrigin: handle?.acceptsCrossOrigin ?? [],
      maxBodyBytes: handle?.maxBodyBytes ?? parent?.maxBodyBytes,
      addedHeaders: joinHeaders(parent?.addedHeaders, handle?.securityHeaders),
    };
    const children = index ? undefined : toTree(manifest, isProduction, entry);
    return [{ id, path: route.path, index, caseSensitive, handle: entry, children } as RouteObject];
  });
}

/** Joins headers that are lists. For other headers, the inner route's value counts. */
function joinHeaders(outer: AddedHeaders = {}, inner: AddedHeaders = {}) {
  const joined = { ...outer, ...inner };
  const separators = { "Content-Security-Policy": "; ", "Permissions-Policy": ", " };
  for (const [name, separator] of Object.entries(separators)) {
    if (name in outer && name in inner) joined[name] = outer[name] + separator + inner[name];
  }
  return joined;
}
