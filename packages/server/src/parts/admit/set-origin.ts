import type { RequestHandler } from "express";
import type { TrustProxy } from "../../http/client-address.ts";

const SCHEMES = ["http", "https"];

/**
 * Sets the host and the protocol of the URL that loaders and actions get in `request.url`: those of `ORIGIN`, or the
 * Host header and a trusted proxy's scheme.
 */
export function forwarded(trustProxy: TrustProxy, origin: URL | undefined): RequestHandler {
  const originScheme = origin?.protocol.slice(0, -1);
  return (req, _res, next) => {
    const { headers, socket } = req;
    const sent = headers["x-forwarded-proto"]?.toString().split(",", 1)[0]?.trim() ?? "";
    const scheme = SCHEMES.includes(sent) && trustProxy(socket.remoteAddress ?? "", 0) ? sent : undefined;
    if (scheme === undefined) delete headers["x-forwarded-proto"];
    else headers["x-forwarded-proto"] = scheme;
    // Replaces Express's getter, which compares addresses each time.
    Object.defineProperty(req, "protocol", { value: originScheme ?? scheme ?? "http" });
    if (origin) headers.host = origin.host;
    headers.host ||= "localhost"; // HTTP/1.0 may leave it out.
    next();
  };
}
