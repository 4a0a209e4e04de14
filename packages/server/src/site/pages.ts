import type { RouteConfigEntry } from "@react-router/dev/routes";
import type { ServerBuild } from "react-router";
import { parseBase } from "./base-path.ts";
import { createRouteTable } from "./route-table.ts";

/** What a build has: its routes and how paths match them. `routeConfig` is the list that `app/routes.ts` exports. */
export function createPages(build: ServerBuild, routeConfig: RouteConfigEntry[], isProduction: boolean) {
  const base = parseBase(build.basename, build.publicPath);
  return {
    build,
    base,
    isProduction,
    ...createRouteTable(build.routes, isProduction, base),
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
