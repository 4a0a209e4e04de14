import type { RequestHandler } from "express";
import type { TrustProxy } from "./access-log.ts";

const SCHEMES = ["http", "https"];

/**
 * Decides what React Router's adapter makes `request.url` of: the public origin where the operator names it, or else
 * the Host header, and the scheme that a trusted proxy says. Never X-Forwarded-Host, which proxies pass on from the
 * client unless told otherwise, so that anybody could put another host into a page that a cache keeps.
 */
export function forwarded(trustProxy: TrustProxy, origin: URL | undefined): RequestHandler {
  const originScheme = origin?.protocol.slice(0, -1);
  return (req, _res, next) => {
    const { headers, socket } = req;
    delete headers["x-forwarded-host"];
    const said = headers["x-forwarded-proto"]?.toString().split(",", 1)[0]?.trim() ?? "";
    const scheme = SCHEMES.includes(said) && trustProxy(socket.remoteAddress ?? "", 0) ? said : undefined;
    if (scheme === undefined) delete headers["x-forwarded-proto"];
    else headers["x-forwarded-proto"] = scheme;
    // In place of Express's getter, which compares addresses each time.
    Object.defineProperty(req, "protocol", { value: originScheme ?? scheme ?? "http" });
    if (origin) headers.host = origin.host;
    headers.host ||= "localhost"; // HTTP/1.0 may leave it out.
    next();
  };
}
