import type { Request, Response } from "express";
import createHttpError from "http-errors";
import { keepsSegments } from "../http/request-target.ts";
import { FILE_ROUTE } from "../locals.ts";
import { ACTION_METHODS, READ_METHODS } from "../site/route-entry.ts";

/**
 * Returns an error for a method that a file, a cached page or a resource route doesn't allow, and for a path with dot
 * segments. `files` checks all requests early; React Router's handler again, since a site may have no `files`.
 */
export function checkMethod(req: Request, res: Response) {
  const { route, httpRoute, target } = res.locals;
  if (!target) return undefined; // Without `receive`, as in a test, React Router decides.
  const { method } = req;
  if (req.route) req.route = undefined; // Of a handler that has passed the request on.
  const methods = route?.methods ?? READ_METHODS;
  // A resource route's loader also gets methods like OPTIONS.
  const handledAs = route?.isResource && !ACTION_METHODS.includes(method) ? "GET" : method;
  // For pages that aren't cached, React Router decides.
  const isDecidedLater = route && !route.cacheRule && !route.isResource;
  // Fetch's Request can't have the method TRACE.
  const isAllowed = method !== "TRACE" && (isDecidedLater || methods.includes(handledAs));
  // The URL parser would change the path, and React Router would match another route.
  const isChanged = httpRoute !== FILE_ROUTE && !keepsSegments(target.path) && route?.cacheKey === undefined;
  if (isChanged) return createHttpError(404);
  return isAllowed ? undefined : createHttpError(405, { headers: { Allow: methods.join(", ") } });
}
