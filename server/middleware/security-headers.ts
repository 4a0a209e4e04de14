import type { RequestHandler } from "express";
import onHeaders from "on-headers";
import { isForSharedCaches } from "../http/cache-control.ts";
import { extendSecurityHeaders } from "../http/security-headers.ts";
import { setDefaultHeaders } from "./default-headers.ts";

/** Sets the headers of what Express sends. */
export function setSecurityHeaders(securityHeaders: Record<string, string>): RequestHandler {
  return (_req, res, next) => {
    const { route, requestId } = res.locals;
    setDefaultHeaders(res, extendSecurityHeaders(securityHeaders, route?.addedHeaders ?? {}));
    onHeaders(res, () => {
      // Kept by a shared cache, it would be sent with everybody's copy.
      if (!isForSharedCaches(res.getHeader("Cache-Control")?.toString() ?? ""))
        res.setHeader("X-Request-Id", requestId);
    });
    next();
  };
}
