import type { RequestHandler } from "express";
import { setDefaultHeaders } from "./default-headers.ts";

/** Sets the headers of what Express sends. */
export function setSecurityHeaders(securityHeaders: Record<string, string>): RequestHandler {
  return (_req, res, next) => {
    setDefaultHeaders(res, { ...securityHeaders, "X-Request-Id": res.locals.requestId });
    next();
  };
}
