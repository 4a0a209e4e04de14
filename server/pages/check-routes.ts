import * as v from "valibot";
import { HandleSchema } from "../../app/handle.ts";
import { extendSecurityHeaders } from "../response/security-headers.ts";
import { build, findFile, findRoute, routes } from "./build.ts";

/** Throws for a route whose `handle` or `headers` the server doesn't support. The message names its file. */
export function checkRoutes() {
  for (const { id, cacheRule, cacheKey, addedHeaders } of routes) {
    const file = findFile(id) ?? "app/root.tsx";
    const { success, issues } = v.safeParse(HandleSchema, build.routes[id]?.module.handle ?? {});
    if (!success) {
      const [{ type, message }] = issues;
      const fault = type === "strict_object" ? "unknown key: app/handle.ts lists those that a route may have" : message;
      throw new Error(`${file}: handle.${v.getDotPath(issues[0])}: ${fault}`);
    }
    try {
      extendSecurityHeaders({}, addedHeaders, { scripts: [], styles: [] });
    } catch (error) {
      throw new Error(`${file}: handle.securityHeaders: ${(error as Error).message}`);
    }
    const hasChildren = Object.values(build.routes).some((route) => route?.parentId === id);
    if (cacheRule && hasChildren) {
      throw new Error(`${file} can't set s-maxage: the pages inside it would inherit it, so each has to set its own`);
    }
    if (cacheKey === undefined) continue;
    if (!cacheRule) throw new Error(`${file}: handle.cacheKey has no effect unless headers sets s-maxage`);
    if (findRoute(cacheKey)?.route.id !== id) {
      throw new Error(`${file}: handle.cacheKey: ${cacheKey} isn't a path of this route`);
    }
  }
}
