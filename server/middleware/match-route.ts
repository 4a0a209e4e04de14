import createHttpError from "http-errors";
import { findRoute } from "../pages/build.ts";
import { ASSETS_PATH, type ClientFiles } from "../pages/client-files.ts";
import { READ_METHODS } from "../pages/route-table.ts";
import type { Middleware } from "./chain.ts";

/** Finds the route of a request, and rejects a method that a file or a kept page doesn't allow. */
export function matchRoute(files: ClientFiles): Middleware {
  return (req, res, next) => {
    const { path, decodedPath } = res.locals.target;
    const isFile = path.startsWith(ASSETS_PATH) || files.has(decodedPath);
    const route = isFile ? undefined : findRoute(path);
    res.locals.route = route;
    res.locals.routeId = isFile ? "file" : (route?.id ?? "none");
    const methods = route?.methods ?? READ_METHODS;
    // Of other pages React Router decides it, but a Request with the method TRACE can't be made.
    const isDecidedLater = route && !route.isPrerendered && !route.kept && req.method !== "TRACE";
    const isAllowed = isDecidedLater || methods.includes(req.method ?? "");
    next(isAllowed ? undefined : createHttpError(405, { headers: { Allow: methods.join(", ") } }));
  };
}
