import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hasBody, headLength } from "../http/request-target.ts";
import { filterBody, onAssigned, releaseConnection, releaseResponse, stopParsing } from "../node-internals.ts";
import { type Connection, findFirstToGo, isStalled, recordProgress } from "./progress.ts";
import { createQueue } from "./turns.ts";

/** The memory of all pipelined requests: a base for each, its head, and what is read of its body. */
const MAX_QUEUED_BYTES = 10 * 1024 * 1024;
const REQUEST_BYTES = 5 * 1024;
const BODY_BYTES = 320 * 1024;
/** Each chunk of a body has 200 bytes of overhead. Beyond 256 chunks, a body must have 128 bytes for each more. */
const MIN_AVERAGE_BYTES = 128;
const MIN_CHUNKS = 256;
const CHECK_INTERVAL_MS = 1000;

export type DropReason = "limit" | "stalled" | "idle" | "pipelined" | "small_chunks";

type Options = {
  maxConnections: number;
  /** In milliseconds. 0 means no timeout. */
  clientTimeoutMs: number;
  /** In milliseconds: the time until the head of a response is sent. While an upload progresses, it starts anew. */
  handlerTimeoutMs?: number;
  /** The headers of the 503 that a pending request gets at the limit, if there is no `onLimit`. */
  headers?: Record<string, string>;
  onAccept?: () => void;
  onDrop: (reason: DropReason) => void;
  /** Must send a response to this pending request. Then its connection is closed, for a new one. */
  onLimit?: (res: ServerResponse) => void;
  /** Must send a response. */
  onHandlerTimeout?: (res: ServerResponse) => void;
};

/**
 * Tracks the connections of a server, and passes their requests on in order. At the limit, it closes the connection
 * that is the first to go (progress.ts). It also closes those that are stalled or idle for too long, pipeline too much,
 * or send bodies in small chunks. A handler that takes too long is reported.
 */
export function guardConnections(server: Server, options: Options) {
  const { maxConnections, clientTimeoutMs, headers, onAccept, onDrop, onHandlerTimeout } = options;
  const { handlerTimeoutMs = Number.POSITIVE_INFINITY } = options;
  const { onLimit = (res) => res.writeHead(503, { ...headers, Connection: "close" }) } = options;
  const connections = new Map<Socket, Connection>();
  let queuedBytes = 0;

  function drop(socket: Socket, reason: DropReason) {
    const pending = connections.get(socket)?.pending;
    if (!connections.delete(socket)) return;
    onDrop(reason);
    // A reset frees what the client has not read. Otherwise the kernel would keep it for minutes.
    if (pending?.size || socket.writableLength > 0) socket.resetAndDestroy();
    else socket.destroy();
  }

  function dropUnparsed(socket: Socket, reason: DropReason) {
    stopParsing(socket);
    drop(socket, reason);
  }

  /** Closes the connection that is the first to go. */
  function evict() {
    const socket = findFirstToGo(connections);
    if (!socket) return;
    const [res] = connections.get(socket)?.pending ?? [];
    if (!res || res.headersSent) return drop(socket, "limit");
    onLimit(res);
    res.end(); // At once: `handleErrors` would wait for the rest of the body.
    if (socket.writableLength > 0) return drop(socket, "limit"); // Its client doesn't read.
    connections.delete(socket);
    onDrop("limit");
    socket.destroySoon();
  }

  function check() {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      recordProgress(socket, connection, now);
      const [res] = connection.pending;
      const handledMs = now - (connection.handledAt ?? now);
      if (res && !res.headersSent && handledMs > handlerTimeoutMs) onHandlerTimeout?.(res);
      if (clientTimeoutMs > 0 && isStalled(socket, connection, now, clientTimeoutMs)) drop(socket, "stalled");
    }
  }

  const shortest = Math.min(clientTimeoutMs || Number.POSITIVE_INFINITY, handlerTimeoutMs);
  const checking = setInterval(check, Math.min(CHECK_INTERVAL_MS, shortest / 2)).unref();
  server.once("close", () => clearInterval(checking));

  server.on("connection", (socket: Socket) => {
    onAccept?.();
    const connection: Connection = {
      pending: new Set(),
      queuedBytes: 0,
      isUpgraded: false,
      handledAt: undefined,
      bytes: 0,
      progressAt: performance.now(),
    };
    connections.set(socket, connection);
    socket.once("close", () => {
      releaseConnection(socket);
      connections.delete(socket);
      queuedBytes -= connection.queuedBytes;
      connection.pending.clear(); // Since Node 24, each response emits "close", and would subtract its bytes again.
    });
    if (connections.size > maxConnections) evict();
  });
  // The keep-alive timeout or, on the operators' port, `server.timeout`.
  server.on("timeout", (socket) => {
    const { bytesRead } = socket;
    // While the process was paused or busy, a request may have arrived: it is read first.
    setImmediate(() => socket.bytesRead === bytesRead && drop(socket, "idle"));
  });

  return {
    all: connections as ReadonlyMap<Socket, Connection>,
    countPending: () => [...connections.values()].reduce((sum, { pending }) => sum + pending.size, 0),
    countUpgraded: () => [...connections.values()].filter(({ isUpgraded }) => isUpgraded).length,
    /** Passes on one request of a connection at a time. Otherwise each pipelined one could open a file. */
    handleRequests(listener: RequestListener) {
      const runSoon = createQueue();
      server.on("request", (req, res) => {
        const { socket } = req;
        const connection = connections.get(socket);
        if (!connection) return; // It has been dropped.
        const { pending } = connection;
        pending.add(res);
        connection.progressAt = performance.now();
        const isPipelined = pending.size > 1;
        const bytes = isPipelined ? REQUEST_BYTES + headLength(req) + (hasBody(req) ? BODY_BYTES : 0) : 0;
        queuedBytes += bytes;
        connection.queuedBytes += bytes;
        if (isPipelined && queuedBytes > MAX_QUEUED_BYTES) return dropUnparsed(socket, "pipelined");
        if (hasBody(req)) {
          connection.unfinished = req;
          // Not kept longer: an idle connection would hold a head in memory.
          req.once("close", () => {
            if (connection.unfinished === req) connection.unfinished = undefined;
          });
          onSmallChunks(req, () => dropUnparsed(socket, "small_chunks"));
        }
        res.once("close", () => {
          releaseResponse(res);
          connection.progressAt = performance.now();
          connection.handledAt = undefined;
          if (!pending.delete(res)) return;
          queuedBytes -= bytes;
          connection.queuedBytes -= bytes;
        });
        const handle = () => {
          if (!socket.writable) return;
          connection.handledAt = performance.now();
          listener(req, res);
        };
        onAssigned(res, () => runSoon(handle));
      });
    },
    /** Records that a service takes the connection over. Returns false if a response is still pending. */
    upgrade(socket: Socket) {
      const connection = connections.get(socket);
      if (!connection || connection.pending.size > 0) return false;
      connection.isUpgraded = true;
      return true;
    },
  };
}

export type Connections = ReturnType<typeof guardConnections>;

/** Calls back when the chunks of a body are too small, and discards the chunks that the parser has read already. */
function onSmallChunks(req: IncomingMessage, callback: () => void) {
  let bytes = MIN_CHUNKS * MIN_AVERAGE_BYTES;
  filterBody(req, (chunk) => {
    if (chunk) bytes += chunk.length - MIN_AVERAGE_BYTES;
    if (bytes < 0) callback();
    return bytes >= 0;
  });
}
