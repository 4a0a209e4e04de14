import type { RequestHandler } from "express";
import { isHost } from "../http/request-target.ts";
import type { TrustProxy } from "./access-log.ts";

const IS_VALID = {
  "x-forwarded-host": (host: string) => host !== "" && isHost(host),
  "x-forwarded-proto": (scheme: string) => scheme === "http" || scheme === "https",
};

/**
 * React Router's adapter makes a URL of what the client or a proxy says. Of a list it gets the first value, from
 * trusted proxies only, and only a valid one.
 */
export function forwarded(trustProxy: TrustProxy): RequestHandler {
  return ({ headers, socket }, _res, next) => {
    const isTrusted = trustProxy(socket.remoteAddress ?? "", 0);
    for (const name of ["x-forwarded-host", "x-forwarded-proto"] as const) {
      const first = headers[name]?.toString().split(",", 1)[0]?.trim() ?? "";
      if (isTrusted && IS_VALID[name](first)) headers[name] = first;
      else delete headers[name];
    }
    headers.host ||= "localhost"; // HTTP/1.0 may leave it out.
    next();
  };
}
