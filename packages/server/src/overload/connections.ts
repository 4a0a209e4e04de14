import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hasBody, headLength } from "../http/request-target.ts";
import {
  countSent,
  filterBody,
  onAssigned,
  releaseConnection,
  releaseResponse,
  stopParsing,
} from "../node-internals.ts";
import { createQueue } from "./turns.ts";

/** Bytes per second that a client must send or read, on average over its timeout. The same as in ASP.NET's Kestrel. */
const MIN_DATA_RATE = 240;
/** The memory of all pipelined requests: a base for each, its head, and what is read of its body. */
const MAX_QUEUED_BYTES = 10 * 1024 * 1024;
const REQUEST_BYTES = 5 * 1024;
const BODY_BYTES = 320 * 1024;
/** Each chunk of a body has 200 bytes of overhead. Beyond 256 chunks, a body must have 128 bytes for each more. */
const MIN_AVERAGE_BYTES = 128;
const MIN_CHUNKS = 256;
const CHECK_INTERVAL_MS = 1000;
/** The time for a client to send its next request. */
const GRACE_MS = 1000;

export type DropReason = "limit" | "stalled" | "idle" | "pipelined" | "small_chunks";

export type Connection = {
  /** The responses that have not ended, in the order of their requests. */
  pending: Set<ServerResponse>;
  /** The memory of its pipelined requests. */
  queuedBytes: number;
  /** The last request whose body has not ended. */
  unfinished?: IncomingMessage | undefined;
  /** A service has taken the connection over for another protocol (RFC 9110 §7.8). */
  isUpgraded: boolean;
  /** When the first pending request was passed on, or the last bytes of its body arrived. */
  handledAt: number | undefined;
  /** The bytes sent to the client and, while `isSending`, read from it. */
  bytes: number;
  progressAt: number;
  /** The start of the data rate's measurement, while the server waits for the client. */
  measured?: { since: number; bytes: number; isSending: boolean } | undefined;
};

type Options = {
  maxConnections: number;
  /** In milliseconds. 0 means no timeout. */
  clientTimeoutMs: number;
  /** In milliseconds: the time until the head of a response is sent. While an upload progresses, it starts anew. */
  handlerTimeoutMs?: number;
  /** The headers of the 503 that a pending request gets before its connection is closed at the limit. */
  headers: Record<string, string>;
  onAccept?: () => void;
  onDrop: (reason: DropReason) => void;
  /** Must send a response. */
  onHandlerTimeout?: (res: ServerResponse) => void;
};

/**
 * Tracks the connections of a server, and passes their requests on in order. At the limit, it closes the connection
 * that `rank` puts first. It also closes those that are stalled or idle for too long, pipeline too much, or send bodies
 * in small chunks. A handler that takes too long is reported.
 */
export function guardConnections(server: Server, options: Options) {
  const { maxConnections, clientTimeoutMs, headers, onAccept, onDrop, onHandlerTimeout } = options;
  const { handlerTimeoutMs = Number.POSITIVE_INFINITY } = options;
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

  /** Closes the connection that `rank` puts first. */
  function evict() {
    const now = performance.now();
    let socket: Socket | undefined;
    let first = { rank: Number.POSITIVE_INFINITY, progressAt: 0 };
    for (const [candidate, connection] of connections) {
      const { progressAt } = connection;
      const next = { rank: rank(candidate, connection, now), progressAt };
      if (next.rank > first.rank || (next.rank === first.rank && progressAt >= first.progressAt)) continue;
      socket = candidate;
      first = next;
    }
    if (!socket) return;
    const [res] = connections.get(socket)?.pending ?? [];
    if (!res || res.headersSent) return drop(socket, "limit");
    res.writeHead(503, { ...headers, Connection: "close" }).end();
    // Its handler may still be running, and fail to respond.
    Object.assign((res as ServerResponse & { locals?: object }).locals ?? {}, { errorStatus: 503 });
    if (socket.writableLength > 0) return drop(socket, "limit"); // Its client doesn't read.
    connections.delete(socket);
    onDrop("limit");
    socket.destroySoon();
  }

  function check() {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const { pending, unfinished, isUpgraded } = connection;
      const [res] = pending;
      // Other bytes of a client, such as empty lines, are no progress. Nor are those of one that doesn't read.
      const isSending = socket.writableLength === 0 && (isUpgraded || unfinished?.complete === false);
      const bytes = countSent(socket) + (isSending ? socket.bytesRead : 0);
      if (bytes !== connection.bytes && (res || isUpgraded)) connection.progressAt = now;
      connection.bytes = bytes;
      if (res && !res.req.complete) connection.handledAt &&= Math.max(connection.handledAt, connection.progressAt);
      const handledMs = now - (connection.handledAt ?? now);
      if (res && !res.headersSent && handledMs > handlerTimeoutMs) onHandlerTimeout?.(res);
      if (clientTimeoutMs === 0 || !waitsForClient(socket, unfinished)) {
        connection.measured = undefined;
        continue;
      }
      if (connection.measured?.isSending !== isSending) connection.measured = { since: now, bytes, isSending };
      const elapsed = now - connection.measured.since;
      if (elapsed < clientTimeoutMs) continue;
      if (bytes - connection.measured.bytes < (MIN_DATA_RATE * elapsed) / 1000) drop(socket, "stalled");
      else connection.measured = { since: now, bytes, isSending };
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
    bytes += chunk.length - MIN_AVERAGE_BYTES;
    if (bytes < 0) callback();
    return bytes >= 0;
  });
}

/**
 * The order in which connections are closed at the limit: idle, upgraded or waiting for the client, waiting for the
 * server. One with recent progress is among the last: its next request may be on its way.
 */
function rank(socket: Socket, connection: Connection, now: number) {
  if (now - connection.progressAt < GRACE_MS) return 2;
  if (connection.pending.size === 0) return connection.isUpgraded ? 1 : 0;
  return waitsForClient(socket, connection.unfinished) ? 1 : 2;
}

/** Whether the server waits for the client to read, or for the rest of a request. */
export function waitsForClient({ writableLength }: Socket, req?: IncomingMessage) {
  return writableLength > 0 || (req !== undefined && !req.complete && req.readableLength === 0);
}
