import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { DestinationStream } from "pino";
import proxyaddr from "proxy-addr";
import { timeField } from "../ops/log.ts";
import type { Metrics } from "../ops/metrics.ts";
import type { Settings } from "../settings.ts";

/** The most characters of anything that a client wrote in a line of the log. */
const LONGEST_TEXT = 256;
/** Node refuses them in paths, but in headers only the first 32; JSON too escapes only those. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;
/** How an IPv4 client looks to a server that listens on all interfaces. */
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;
const REQUEST_ID = /^[\w.:-]{1,64}$/;

/** The request's id: the client's or the proxy's own where it is well-formed, or else a new one. */
export function requestIdOf(req: IncomingMessage) {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
}

/** What the log and the metrics say of a request beyond what it and its answer hold. */
export type Exchange = { requestId: string; route: string; path: string };

type Options = {
  /** Where the log's lines go, unless it leaves these out. */
  lines: DestinationStream | undefined;
  metrics: Metrics;
  trust: Settings["TRUST_PROXY"];
};

/** Has the requests of a listener logged and counted, each once its answer has ended. */
export function recordAccess(
  answer: (req: IncomingMessage, res: ServerResponse) => Exchange,
  { lines, metrics, trust }: Options,
): RequestListener {
  return (req, res) => {
    const begun = performance.now();
    const { socket } = req;
    const bytesBefore = socket.bytesWritten;
    const { requestId, route, path } = answer(req, res);
    const record = () => {
      const milliseconds = performance.now() - begun;
      metrics.recordRequest(route, req.method ?? "", res.statusCode, milliseconds / 1000);
      if (!lines) return;
      const client = clientAddress(req, trust);
      const userAgent = req.headers["user-agent"]?.slice(0, LONGEST_TEXT).replace(CONTROL_CHARACTERS, "\uFFFD");
      // Pino would write the same, and take a fifth of an answer's time. What may hold a quote is escaped: an id,
      // a method and an address can't.
      lines.write(
        `{"level":"info"${timeField()},"requestId":"${requestId}","method":"${req.method}"` +
          `,"path":${JSON.stringify(path.slice(0, LONGEST_TEXT))},"route":${JSON.stringify(route)}` +
          `,"status":${res.statusCode},"bytes":${socket.bytesWritten - bytesBefore}` +
          `,"durationMs":${Math.round(milliseconds * 1000) / 1000}` +
          (client === undefined ? "" : `,"client":"${client}"`) +
          (userAgent === undefined ? "" : `,"userAgent":${JSON.stringify(userAgent)}`) +
          `${res.writableEnded ? "" : ',"aborted":true'},"msg":"request"}\n`,
      );
    };
    if (res.writableEnded) record();
    else res.on("close", record);
  };
}

/** The address of the client before the trusted proxies; what they pass on must be an address. */
function clientAddress(req: IncomingMessage, trust: Settings["TRUST_PROXY"]) {
  const peer = req.socket.remoteAddress?.replace(IPV4_IN_IPV6, "");
  if (req.headers["x-forwarded-for"] === undefined) return peer;
  const forwarded = proxyaddr(req, trust);
  return isIP(forwarded) ? forwarded : peer;
}
