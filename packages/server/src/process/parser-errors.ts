import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { UpgradeHandler } from "../define-server.ts";
import { hasBody } from "../http/request-target.ts";
import type { Connections } from "../overload/index.ts";

/** The same statuses as Node's. Any other error is a 400. */
const STATUSES: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

type Options = {
  headers: Record<string, string>;
  onReject: (socket: Socket, status: number, code: string) => void;
  /** Without it, an upgrade is an ordinary request. */
  upgrade?: UpgradeHandler | undefined;
  /** Returns whether `upgrade` gets the request. */
  acceptUpgrade: (req: IncomingMessage) => boolean;
  /** Logs what `upgrade` throws, or rejects with. */
  onUpgradeError: (error: unknown, req: IncomingMessage) => void;
};

/**
 * Rejects requests that Node's parser can't parse, CONNECT and malformed upgrades. The responses have the security
 * headers, and each is logged and counted.
 */
export function rejectUnparsable(server: Server, connections: Connections, options: Options) {
  const { headers, onReject, upgrade, acceptUpgrade, onUpgradeError } = options;
  const fields = { ...headers, "Cache-Control": "no-store", "Content-Length": 0, Connection: "close" };
  const reject = (socket: Socket, status: number, code: string) => {
    onReject(socket, status, code);
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
  // With any listener, Node no longer handles an upgrade as an ordinary request.
  if (upgrade) {
    server.on("upgrade", (req: IncomingMessage, stream: Duplex, head: Buffer) => {
      const { socket } = req;
      // As above. Since Node 26, the stream isn't the socket if there is a body (nodejs/node#60016).
      stream.on("error", () => {});
      if (hasBody(req) || !acceptUpgrade(req)) return reject(socket, 400, "upgrade");
      // The response to an earlier request would get in between the other protocol's bytes.
      if (!connections.upgrade(socket)) return socket.destroy();
      const before = socket.bytesWritten;
      const run = async () => upgrade(req, socket, head); // It may be async, too.
      run().catch((error) => {
        onUpgradeError(error, req);
        // If it has responded, another response would be a part of its protocol.
        if (socket.bytesWritten > before) socket.destroy();
        else reject(socket, 400, "upgrade");
      });
    });
  }
  // The application rejects unknown expectations.
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
}
