import * as v from "valibot";
import { HandleSchema } from "../pages/handle.ts";
import { findMeant } from "../settings/misspelling.ts";
import { toUrlPath } from "./base-path.ts";
import type { Pages } from "./pages.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/** Parts of a pattern that the path of a URL can't have. A "?" at the end of a segment makes it optional. */
const NOT_IN_PATH = /#|\?(?!\/|$)|%[\da-f]{2}/i;

/** Throws for a route whose path, `handle` or `headers` the server doesn't support. The message names its file. */
export function checkRoutes(
  { build, base, routes, prerendered, findRoute, findFile }: Pages,
  securityHeaders: SecurityHeaders,
) {
  for (const { id, pattern, methods, acceptsCrossOrigin, cacheRule, cacheKey, addedHeaders } of routes) {
    const file = findFile(id);
    if (pattern !== pattern.normalize()) {
      throw new Error(
        `${file}: its path ${pattern} has decomposed letters (Unicode's NFD): write it in NFC, as in URLs`,
      );
    }
    const part = NOT_IN_PATH.exec(pattern)?.[0];
    if (part !== undefined) {
      throw new Error(
        `${file}: its path ${pattern} has "${part}", so no link to this path leads to it: choose another`,
      );
    }
    const handle = build.routes[id]?.module.handle ?? {};
    const { success, issues, output } = v.safeParse(HandleSchema, handle);
    if (!success) throw new Error(`${file}: handle.${v.getDotPath(issues[0])}: ${issues[0].message}`);
    for (const key of Object.keys(handle)) {
      const meant = findMeant(key, Object.keys(HandleSchema.entries));
      if (meant) throw new Error(`${file}: handle.${key}: is ${meant} meant?`);
    }
    try {
      securityHeaders.ofPage(addedHeaders, { scripts: [], styles: [] });
    } catch (error) {
      throw new Error(`${file}: handle.securityHeaders: ${(error as Error).message}`);
    }
    const hasChildren = Object.values(build.routes).some((route) => route?.parentId === id);
    if (cacheRule && hasChildren) {
      throw new Error(`${file} can't set s-maxage: the pages inside it would inherit it, so each has to set its own`);
    }
    // A request for an index route runs the action of the route around it, unless its query has `index`.
    const hasOwnAction = build.routes[id]?.path && methods.includes("POST");
    if (acceptsCrossOrigin.length > 0 && (!hasOwnAction || hasChildren)) {
      throw new Error(`${file}: handle.acceptsCrossOrigin is only for a route with an action, a path and no children`);
    }
    if (output.variants && !cacheRule) {
      throw new Error(`${file}: handle.variants has no effect unless headers sets s-maxage`);
    }
    if (output.variants && [...prerendered.values()].some((entry) => entry.id === id)) {
      throw new Error(`${file}: handle.variants: prerender makes one page for all visitors: leave the route out`);
    }
    if (cacheKey === undefined) continue;
    if (!cacheRule) throw new Error(`${file}: handle.cacheKey has no effect unless headers sets s-maxage`);
    if (findRoute(toUrlPath(base, cacheKey))?.route.id !== id) {
      throw new Error(`${file}: handle.cacheKey: ${cacheKey} isn't a path of this route`);
    }
  }
}
