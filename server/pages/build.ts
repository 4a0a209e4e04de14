import * as build from "virtual:react-router/server-build";
import { createRouteTable } from "./route-table.ts";

/** What the framework made of app/. */
export { build };

export const { routes, findRoute } = createRouteTable(build.routes);
