import { randomUUID } from "node:crypto";
import type { Middleware } from "./chain.ts";

const REQUEST_ID = /^[\w.:-]{1,64}$/;

/** Takes the request's id from the client or the proxy where it is well-formed, or makes a new one. */
export const requestId: Middleware = (req, res, next) => {
  const given = req.headers["x-request-id"];
  res.locals.requestId = typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
  next();
};
