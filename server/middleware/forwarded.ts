import type { RequestHandler } from "express";
import type { TrustProxy } from "./access-log.ts";

const SCHEMES = ["http", "https"];

/**
 * Decides what React Router's adapter makes `request.url` of: the public origin where the operator names it, or else
 * the Host header, and the scheme that a trusted proxy says. Never X-Forwarded-Host, which proxies pass on from the
 * client unless told otherwise, so that anybody could put another host into a page that a cache keeps.
 */
export function forwarded(trustProxy: TrustProxy, origin: URL | undefined): RequestHandler {
  return (req, _res, next) => {
    const { headers, socket } = req;
    delete headers["x-forwarded-host"];
    const scheme = headers["x-forwarded-proto"]?.toString().split(",", 1)[0]?.trim() ?? "";
    if (SCHEMES.includes(scheme) && trustProxy(socket.remoteAddress ?? "", 0)) headers["x-forwarded-proto"] = scheme;
    else delete headers["x-forwarded-proto"];
    if (origin) {
      headers.host = origin.host;
      Object.defineProperty(req, "protocol", { value: origin.protocol.slice(0, -1) }); // Express has a getter.
    }
    headers.host ||= "localhost"; // HTTP/1.0 may leave it out.
    next();
  };
}
