import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "pino";
import proxyaddr from "proxy-addr";
import type { Middleware } from "./chain.ts";

/** Characters of anything that a client wrote. */
const MAX_FIELD_LENGTH = 256;
/** JSON escapes those below U+0020 only. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;
/** How an IPv4 client looks to a server that listens on all interfaces. */
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

export type TrustProxy = (address: string, hop: number) => boolean;

export type AccessLogOptions = {
  log: Logger;
  recordRequest: (routeId: string, method: string, status: number, seconds: number) => void;
  trustProxy: TrustProxy;
};

/** Logs and measures each request once its response has ended. */
export function accessLog({ log, recordRequest, trustProxy }: AccessLogOptions): Middleware {
  return (req, res, next) => {
    const startedAt = performance.now();
    const { socket, method = "", url = "" } = req;
    const bytesBefore = socket.bytesWritten;
    res.on("close", () => {
      const durationMs = performance.now() - startedAt;
      const { requestId, target, routeId = "none" } = res.locals;
      recordRequest(routeId, method, res.statusCode, durationMs / 1000);
      log.info(
        {
          requestId,
          method,
          path: (target?.path ?? url).slice(0, MAX_FIELD_LENGTH),
          route: routeId,
          status: res.statusCode,
          bytes: socket.bytesWritten - bytesBefore,
          durationMs: Math.round(durationMs * 1000) / 1000,
          client: clientAddress(req, trustProxy),
          userAgent: req.headers["user-agent"]?.slice(0, MAX_FIELD_LENGTH).replace(CONTROL_CHARACTERS, "\uFFFD"),
          aborted: res.writableFinished ? undefined : true,
        },
        "request",
      );
    });
    next();
  };
}

/** The address of the client before the trusted proxies; what they pass on must be an address. */
function clientAddress(req: IncomingMessage, trustProxy: TrustProxy) {
  const peer = req.socket.remoteAddress?.replace(IPV4_IN_IPV6, "");
  if (req.headers["x-forwarded-for"] === undefined) return peer;
  const address = proxyaddr(req, trustProxy);
  return isIP(address) ? address : peer;
}
