import createHttpError from "http-errors";
import { REPORTS_PATH } from "../../app/report-error.ts";
import type { Middleware } from "../chain.ts";
import { keepsSegments } from "../http/request-target.ts";
import { findRoute, routes } from "../pages/build.ts";
import { ASSETS_PATH, type ClientFiles } from "../pages/client-files.ts";
import { ACTION_METHODS, READ_METHODS } from "../pages/route-entry.ts";

/** The `http.route` of a file. */
export const FILE_ROUTE = "file";

/** The `http.route` of files and routes. */
export const HTTP_ROUTES = new Set([FILE_ROUTE, ...routes.map(({ pattern }) => pattern)]);

/** Finds the route of a request, and rejects a method that a file, a cached page or a resource route doesn't allow. */
export function matchRoute(files: ClientFiles): Middleware {
  return (req, res, next) => {
    const { path, decodedPath } = res.locals.target;
    const isFile = path.startsWith(ASSETS_PATH) || files.has(decodedPath);
    const match = isFile ? undefined : findRoute(path);
    const route = match?.route;
    res.locals.route = route;
    res.locals.canonicalPath = match?.canonicalPath ?? path;
    res.locals.httpRoute = isFile ? FILE_ROUTE : route?.pattern;
    const methods = route?.methods ?? READ_METHODS;
    const { method = "" } = req;
    if (method === "POST" && path === REPORTS_PATH) {
      res.locals.httpRoute = REPORTS_PATH;
      return next();
    }
    // A resource route's loader also gets methods like OPTIONS.
    const handledAs = route?.isResource && !ACTION_METHODS.includes(method) ? "GET" : method;
    // For pages that aren't cached, React Router decides.
    const isDecidedLater = route && !route.cacheRule && !route.isResource;
    // Fetch's Request can't have the method TRACE.
    const isAllowed = method !== "TRACE" && (isDecidedLater || methods.includes(handledAs));
    // The URL parser would change the path, and React Router would match another route.
    if (!isFile && !keepsSegments(path) && route?.cacheKey === undefined) return next(createHttpError(404));
    next(isAllowed ? undefined : createHttpError(405, { headers: { Allow: methods.join(", ") } }));
  };
}
