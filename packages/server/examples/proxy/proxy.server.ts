import { type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline } from "node:stream/promises";
import type { Request, RequestHandler } from "express";
import * as v from "valibot";

export const proxySettings = {
  /** The origin of the other service. */
  SHOP_URL: v.pipe(v.string(), v.url(), v.regex(/^https?:\/\/[^/]+\/?$/, "an origin, like http://shop:8080")),
};

/** The other service must send something within this time. */
const TIMEOUT_MS = 20_000;

/** These are of one connection, not of the message (RFC 9110 §7.6.1). */
const HOP_BY_HOP =
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade";

/** Forwards requests with the same path to another service, and its responses back, while they arrive. */
export function forwardTo(url: string, timeoutMs = TIMEOUT_MS): RequestHandler {
  const origin = new URL(url);
  const request = origin.protocol === "https:" ? requestHttps : requestHttp;
  return (req, res, next) => {
    const { method, originalUrl: path } = req;
    const upstream = request(origin, { method, path, headers: toHeaders(req, origin.host) });
    upstream.setTimeout(timeoutMs, () => upstream.destroy(Object.assign(new Error("timed out"), { status: 504 })));
    upstream.once("error", (error) => next(Object.assign(error, { status: "status" in error ? error.status : 502 })));
    upstream.once("response", (response) => {
      res.status(response.statusCode ?? 502).set(withoutHopByHop(response.headers));
      res.flushHeaders();
      pipeline(response, res).catch(() => {}); // If one side ends too early, the other side sees it.
    });
    res.once("close", () => upstream.destroy());
    pipeline(req, upstream).catch(() => {}); // "error" has the reason.
  };
}

function toHeaders(req: Request, host: string) {
  return {
    ...withoutHopByHop(req.headers),
    host,
    "x-forwarded-for": req.ip ?? "unknown",
    "x-forwarded-host": req.host,
    "x-forwarded-proto": req.protocol,
  };
}

function withoutHopByHop({ connection = "", ...headers }: IncomingHttpHeaders) {
  const names = new Set(`${HOP_BY_HOP} ${connection.toLowerCase().replaceAll(",", " ")}`.split(/\s+/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)));
}
