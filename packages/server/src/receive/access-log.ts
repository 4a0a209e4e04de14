import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Request, Response } from "express";
import type { Logger } from "pino";
import proxyaddr from "proxy-addr";
import { parseRequestTarget } from "../http/request-target.ts";
import type { Metrics } from "../operate/metrics.ts";
import { findHttpRoute, toLogText } from "./log-fields.ts";
import { readRequestId, readTraceId } from "./trace-context.ts";

/** The prefix of IPv4 addresses if the server listens on all interfaces. */
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

export type TrustProxy = (address: string, hop: number) => boolean;

type Options = { log: Logger; recordRequest: Metrics["recordRequest"]; trustProxy: TrustProxy };

/**
 * Gives each request its ids. Logs and measures it once its response has ended, with the names of OpenTelemetry's
 * conventions.
 */
export function accessLog({ log, recordRequest, trustProxy }: Options) {
  return (req: Request, res: Response) => {
    const startedAt = performance.now();
    const requestId = readRequestId(req.headers);
    const traceId = readTraceId(req.headers);
    res.locals.requestId = requestId;
    res.locals.traceId = traceId;
    const { socket, method = "", url = "" } = req;
    const bytesBefore = socket.bytesWritten;
    const client = clientAddress(req, trustProxy); // A closed socket has no address.
    res.on("close", () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const errorType = res.writableFinished ? undefined : "aborted";
      const { target, errorStatus } = res.locals;
      const httpRoute = findHttpRoute(res);
      const status = res.headersSent ? (errorStatus ?? res.statusCode) : undefined;
      recordRequest(method, status, httpRoute, errorType, seconds);
      log.info(
        {
          // Field by field, since a spread is several times slower.
          "http.request.id": requestId,
          trace_id: traceId,
          "http.request.method": method,
          "url.path": toLogText(target?.path ?? withoutQuery(url)),
          "http.route": httpRoute,
          "http.response.status_code": status,
          "http.response.size": socket.bytesWritten - bytesBefore,
          "http.server.request.duration": Math.round(seconds * 1e6) / 1e6,
          "client.address": client,
          "user_agent.original": toLogText(req.headers["user-agent"]),
          "error.type": errorType,
        },
        "request",
      );
    });
  };
}

/** Logs an upgrade, such as to WebSocket. The services respond to it, so it has no status. */
export function logUpgrade(req: IncomingMessage, { log, trustProxy }: Pick<Options, "log" | "trustProxy">) {
  log.info(toUpgradeFields(req, trustProxy), "upgrade");
}

export function toUpgradeFields(req: IncomingMessage, trustProxy: TrustProxy) {
  const { method, url = "" } = req;
  const path = toLogText(parseRequestTarget(url)?.path ?? withoutQuery(url));
  const userAgent = toLogText(req.headers["user-agent"]);
  const client = { "client.address": clientAddress(req, trustProxy), "user_agent.original": userAgent };
  return { "http.request.method": method, "url.path": path, ...client };
}

/** The target of a malformed request, without its query, which may be private. */
function withoutQuery(target: string) {
  return target.replace(/[?#].*/s, "");
}

/** The client's address from the headers of trusted proxies, or else from the connection. */
function clientAddress(req: IncomingMessage, trustProxy: TrustProxy) {
  const peer = req.socket.remoteAddress?.replace(IPV4_IN_IPV6, "");
  if (req.headers["x-forwarded-for"] === undefined) return peer;
  const address = proxyaddr(req, trustProxy);
  return isIP(address) ? address : peer;
}
