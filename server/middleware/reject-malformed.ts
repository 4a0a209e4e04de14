import createHttpError from "http-errors";
import { findAuthority, hasAmbiguousFraming, isHost, parseRequestTarget } from "../http/request-target.ts";
import type { Middleware } from "./chain.ts";

/** Rejects what Node's parser accepts but RFC 9112 doesn't. From here on `req.url` is in origin form. */
export const rejectMalformed: Middleware = (req, res, next) => {
  const { host, expect } = req.headers;
  const target = parseRequestTarget(req.url ?? "");
  const authority = findAuthority(req.url ?? "");
  const hasHost = host === undefined ? req.httpVersion === "1.0" : isHost(host);
  if (!target || !hasHost || (authority !== undefined && !isHost(authority)) || hasAmbiguousFraming(req)) {
    return next(createHttpError(400, { headers: { Connection: "close" } }));
  }
  if (authority !== undefined) req.headers.host = authority;
  res.locals.target = target;
  req.url = target.path + target.query;
  // RFC 9110 §10.1.1
  const isExpected = expect === undefined || req.httpVersion === "1.0" || expect.toLowerCase() === "100-continue";
  next(isExpected ? undefined : createHttpError(417));
};
