import { READ_METHODS, type RouteEntry } from "../pages/route-table.ts";
import type { Middleware } from "./chain.ts";
import { reject } from "./reject.ts";
import { ASSETS_PATH } from "./static-files.ts";

type Options = { findRoute: (path: string) => RouteEntry | undefined; files: Set<string> };

/** Finds the route of a request, and rejects a method that it doesn't allow. */
export function matchRoute({ findRoute, files }: Options): Middleware {
  return (req, res, next) => {
    const { path, decodedPath } = res.locals.target;
    const isFile = path.startsWith(ASSETS_PATH) || files.has(decodedPath);
    const route = isFile ? undefined : findRoute(path);
    res.locals.route = route;
    res.locals.routeId = isFile ? "file" : (route?.id ?? "none");
    const methods = route?.methods ?? READ_METHODS;
    if (!methods.includes(req.method ?? "")) return reject(res, 405, { Allow: methods.join(", ") });
    next();
  };
}
