import * as build from "virtual:react-router/server-build";
import type { RouteConfigEntry } from "@react-router/dev/routes";
import routeConfig from "../../app/routes.ts";
import { createRouteTable } from "./route-table.ts";

/** The build of app/. */
export { build };

export const { routes, findRoute } = createRouteTable(build.routes);

/** The file of a route. The build has only its id, which is the file's name by default. */
export function findFile(id: string, entries: RouteConfigEntry[] = routeConfig): string | undefined {
  for (const { id: given, file, children = [] } of entries) {
    const found = (given ?? file.replace(/\.\w+$/, "")) === id ? `app/${file}` : findFile(id, children);
    if (found) return found;
  }
}
