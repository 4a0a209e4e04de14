import createHttpError from "http-errors";
import type { Middleware } from "../chain.ts";
import { parseRequest } from "../http/request-target.ts";
import { MAX_HEADER_LINES } from "../limits.ts";

/** Rejects requests that Node's parser accepts but RFC 9112 forbids. From here on `req.url` is in origin form. */
export const rejectMalformed: Middleware = (req, res, next) => {
  const { expect } = req.headers;
  const parsed = parseRequest(req);
  const hasTooManyLines = req.rawHeaders.length > 2 * MAX_HEADER_LINES;
  if (!parsed || hasTooManyLines) {
    return next(createHttpError(hasTooManyLines ? 431 : 400, { headers: { Connection: "close" } }));
  }
  const { target, host } = parsed;
  if (host !== undefined) req.headers.host = host;
  res.locals.target = target;
  req.url = target.path + target.query;
  // RFC 9110 §10.1.1
  const isExpected = expect === undefined || req.httpVersion === "1.0" || expect.toLowerCase() === "100-continue";
  next(isExpected ? undefined : createHttpError(417));
};
