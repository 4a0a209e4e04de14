import type { RequestHandler } from "express";
import { extendSecurityHeaders } from "../http/security-headers.ts";
import { setDefaultHeaders } from "./default-headers.ts";

/** Sets the headers of what Express sends. */
export function setSecurityHeaders(securityHeaders: Record<string, string>): RequestHandler {
  return (_req, res, next) => {
    const { route, requestId } = res.locals;
    const headers = extendSecurityHeaders(securityHeaders, route?.addedHeaders ?? {});
    setDefaultHeaders(res, { ...headers, "X-Request-Id": requestId });
    next();
  };
}
