import type { Request, Response } from "express";
import createHttpError from "http-errors";
import { isOriginForm, MAX_HEADER_LINES, parseRequest } from "../../http/request-target.ts";
import { type Base, toSitePath } from "../../site/base-path.ts";

/**
 * Returns an error for a request that Node's parser accepts but RFC 9112 forbids. Otherwise, `req.url` has a
 * well-formed path from here on, without the base path, as in a router that Express mounts. Outside the base path is
 * nothing of the site.
 */
export function rejectMalformed(req: Request, res: Response, base: Base) {
  const { expect } = req.headers;
  const parsed = isOriginForm(req.originalUrl) ? parseRequest(req) : undefined;
  const hasTooManyLines = req.rawHeaders.length > 2 * MAX_HEADER_LINES;
  if (!parsed || hasTooManyLines) {
    return createHttpError(hasTooManyLines ? 431 : 400, { headers: { Connection: "close" } });
  }
  const { target } = parsed;
  // Most proxies forward it from the client, so a client could put another host into a page.
  if ("x-forwarded-host" in req.headers) delete req.headers["x-forwarded-host"];
  res.locals.target = target;
  const path = toSitePath(base, target.path);
  req.originalUrl = target.path + target.query;
  if (path === undefined) return createHttpError(404);
  req.url = path + target.query;
  // RFC 9110 §10.1.1
  const isExpected = expect === undefined || req.httpVersion === "1.0" || expect.toLowerCase() === "100-continue";
  return isExpected ? undefined : createHttpError(417);
}
