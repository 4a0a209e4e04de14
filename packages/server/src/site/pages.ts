import type { RouteConfigEntry } from "@react-router/dev/routes";
import type { ServerBuild } from "react-router";
import type { PrerenderedFile, RouteEntry } from "../locals.ts";
import { parseBase } from "./base-path.ts";
import { toPrerenderedEntry } from "./prerendered.ts";
import { createRouteTable } from "./route-table.ts";

/** What a build has: its routes and how paths match them. `routeConfig` is the list that `app/routes.ts` exports. */
export function createPages(
  build: ServerBuild,
  routeConfig: RouteConfigEntry[],
  isProduction: boolean,
  files: PrerenderedFile[] = [],
) {
  const base = parseBase(build.basename, build.publicPath);
  const { routes, findRoute } = createRouteTable(build.routes, isProduction, base);
  /** The entries of prerendered responses, by canonical path. */
  const prerendered = new Map<string, RouteEntry>();
  for (const file of files) {
    const match = findRoute(file.path);
    if (match) prerendered.set(match.canonicalPath, toPrerenderedEntry(match.route, file));
  }
  return {
    build,
    base,
    isProduction,
    routes,
    prerendered,
    /** The route of a URL path, or its entry for a prerendered response (site/route-table.ts). */
    findRoute(urlPath: string) {
      const match = findRoute(urlPath);
      const route = match && prerendered.get(match.canonicalPath);
      return route ? { ...match, route } : match;
    },
    /** The file of a route. The build has only its id, which is the file's name by default. */
    findFile: (id: string) => findFile(id, routeConfig) ?? "app/root.tsx",
  };
}

export type Pages = ReturnType<typeof createPages>;

function findFile(id: string, entries: RouteConfigEntry[]): string | undefined {
  for (const { id: given, file, children = [] } of entries) {
    const found = (given ?? file.replace(/\.\w+$/, "")) === id ? `app/${file}` : findFile(id, children);
    if (found) return found;
  }
}
