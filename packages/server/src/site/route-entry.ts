import { posix } from "node:path";
import type { RouteObject, ServerBuild } from "react-router";
import type { AddedHeaders, RouteEntry } from "../locals.ts";
import type { Handle } from "../pages/handle.ts";
import { createCacheRule } from "./cache-rule.ts";

export type Routes = ServerBuild["routes"];

export const READ_METHODS = ["GET", "HEAD"];
/** React Router runs an action for these. */
export const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"];

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
      cacheRule: isReadable ? createCacheRule(module.headers, handle) : undefined,
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
