import type { RequestHandler } from "express";

/** Sets the headers of what Express sends. */
export function setSecurityHeaders(securityHeaders: Record<string, string>): RequestHandler {
  return (_req, res, next) => {
    res.set({ ...securityHeaders, "X-Request-Id": res.locals.requestId });
    next();
  };
}
