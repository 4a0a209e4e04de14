import { hasAmbiguousFraming, isHost, parseRequestTarget } from "../http/request-target.ts";
import type { Middleware } from "./chain.ts";
import { reject } from "./reject.ts";

/** Rejects what Node's parser accepts but RFC 9112 doesn't. From here on `req.url` is in origin form. */
export const rejectMalformed: Middleware = (req, res, next) => {
  const target = parseRequestTarget(req.url ?? "");
  if (!target || !isHost(req.headers.host ?? "") || hasAmbiguousFraming(req)) {
    return reject(res, 400, { Connection: "close" });
  }
  res.locals.target = target;
  req.url = target.path + target.query;
  next();
};
