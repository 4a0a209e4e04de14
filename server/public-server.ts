import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Above the 60 s that load balancers keep idle connections for, so that theirs is the first to close. */
const KEEP_ALIVE_TIMEOUT = 75_000;
/** A client has this long, in ms, to send a request's headers, and this long for all of it. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 20_000;
/** How often, in ms, slow senders and slow readers are looked for. */
const CHECK_INTERVAL = 4000;
/** A client that takes nothing of what waits for it in this time, in ms, reads too slowly. */
const READER_PATIENCE = 20_000;
/** Requests that a connection may have waiting: browsers and proxies send none ahead of an answer. */
const MOST_WAITING = 32;

export function createPublicServer(listener: RequestListener) {
  const server = createServer({
    connectionsCheckingInterval: CHECK_INTERVAL,
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // A second Host header then makes the value invalid, instead of being dropped unseen.
    joinDuplicateHeaders: true,
  });
  answerInTurn(server, listener);
  dropSlowReaders(server);
  return server;
}

/**
 * Has each request of a connection wait for the answer to the one before. Node would have thousands
 * answered at once, and keep the answers until the client takes them.
 */
function answerInTurn(server: Server, listener: RequestListener) {
  const queues = new WeakMap<Socket, { req: IncomingMessage; res: ServerResponse }[]>();
  server.on("connection", (socket: Socket) => {
    const queue: { req: IncomingMessage; res: ServerResponse }[] = [];
    queues.set(socket, queue);
    // Node tells only the first of them that the connection has ended.
    socket.once("close", () => {
      for (const { res } of queue.splice(0)) res.emit("close");
    });
  });
  server.on("request", (req, res) => {
    const { socket } = req;
    const queue = queues.get(socket) ?? [];
    queue.push({ req, res });
    if (queue.length > MOST_WAITING) return socket.destroy();
    res.once("close", () => {
      queue.shift();
      if (queue[0] && socket.writable) listener(queue[0].req, queue[0].res);
    });
    if (queue.length === 1) listener(req, res);
  });
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
