import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Connections } from "../overload/index.ts";
import { limitRate } from "../telemetry/limit-rate.ts";
import { countBy } from "../telemetry/metrics.ts";

/** The same statuses as Node's. Any other error is a 400. */
const STATUSES: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MEANINGS = {
  400: "not valid HTTP, or a malformed upgrade",
  405: "CONNECT",
  408: "a head that took longer than 10 s",
  413: "long chunk extensions",
  431: "a head over 16 KB",
};
/** The most log lines per second. The metric counts every rejection. */
const MAX_REJECTIONS_LOGGED = 10;

type Options = { headers: Record<string, string>; registry: Registry; log: Logger };

/** Sends an error response on a socket, and closes it. */
export type Reject = (socket: Socket, status: number, code: string) => void;

/**
 * Rejects requests that Node's parser can't parse, and CONNECT. The responses have the security headers, and each is
 * logged and counted. Returns a function that rejects another request in the same way.
 */
export function rejectUnparsable(server: Server, connections: Connections, options: Options) {
  const { headers, registry, log } = options;
  const fields = { ...headers, "Cache-Control": "no-store", "Content-Length": 0, Connection: "close" };
  const record = countBy<number>(registry, {
    name: "http_parser_rejections_total",
    help: "Requests that the parser rejected.",
    label: "status",
    values: MEANINGS,
  });
  const logRejection = limitRate(MAX_REJECTIONS_LOGGED, (fields: object) =>
    log.info(fields, "request rejected by the parser"),
  );
  const reject: Reject = (socket, status, code) => {
    record(status);
    const { remoteAddress: client } = socket;
    logRejection({ "client.address": client, "http.response.status_code": status, "error.type": code });
    const pending = connections.all.get(socket)?.pending ?? new Set();
    const respond = () => {
      const [first] = pending;
      if (socket.writable && !first?.headersSent) {
        const allow = status === 405 ? { Allow: "GET, HEAD" } : {};
        const head = Object.entries({ ...fields, ...allow, Date: new Date().toUTCString() })
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join("");
        socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`);
      }
      socket.destroySoon();
    };
    // The complete requests before it get their responses first (RFC 9112 §9.3.2).
    const before = [...pending].findLast(({ req }) => req.complete);
    if (!before) return respond();
    // Keeps reading, to notice when the client disconnects.
    socket.once("end", () => socket.destroy()).resume();
    before.once("close", respond);
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // While a response is pending, the server may not read the next request. So the timeout isn't the client's fault.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && connections.all.get(socket)?.pending.size) return;
    // The connection failed or has closed, so nothing was rejected.
    if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) socket.destroy();
    else reject(socket, STATUSES[error.code ?? ""] ?? 400, error.code ?? "");
  });
  server.on("connect", (_req, socket: Socket) => {
    socket.on("error", () => {}); // Node has removed its listener, and an error would end the process.
    reject(socket, 405, "CONNECT");
  });
  // The application rejects unknown expectations.
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
  return reject;
}
