import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";

/** Above the 60 s that load balancers keep idle connections for, so that theirs is the first to close. */
const KEEP_ALIVE_TIMEOUT = 75_000;
/** A client has this long, in ms, to send a request's headers, and this long for all of it. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 20_000;
/** How often, in ms, slow senders and slow readers are looked for. */
const CHECK_INTERVAL = 2000;
/** A client that takes nothing of what waits for it in this time, in ms, reads too slowly. */
const READER_PATIENCE = 20_000;

export function createPublicServer() {
  const server = createServer({
    connectionsCheckingInterval: CHECK_INTERVAL,
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // A second Host header then makes the value invalid, instead of being dropped unseen.
    joinDuplicateHeaders: true,
  });
  dropSlowReaders(server);
  return server;
}

/** Node limits how slowly a client may send; this limits how slowly it may read. */
function dropSlowReaders(server: Server) {
  const readers = new Map<Socket, { taken: number; since: number }>();
  server.on("connection", (socket: Socket) => {
    readers.set(socket, { taken: 0, since: Date.now() });
    socket.once("close", () => readers.delete(socket));
  });
  setInterval(() => {
    const now = Date.now();
    for (const [socket, last] of readers) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== last.taken) readers.set(socket, { taken, since: now });
      else if (now - last.since > READER_PATIENCE) socket.destroy();
    }
  }, CHECK_INTERVAL).unref();
}
