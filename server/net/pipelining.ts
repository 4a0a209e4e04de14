import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Requests that may be pending in all, at some 5 KB each. One connection can't reach it: of what a single read brings
 * (64 KB), 2,600 requests can be made.
 */
const MAX_PENDING = 4000;

type PendingRequest = { req: IncomingMessage; res: ServerResponse };

/**
 * Handles the requests of a connection one after the other: concurrently, each would have a file open, and when the
 * connection closes, Node tells only the first response, so the others would never close theirs. While requests are
 * queued no more are read from the connection, or a client that reads no response could fill the memory.
 */
export function queueRequests(server: Server, listener: RequestListener, onDrop: () => void) {
  /** The requests of each connection whose responses have not ended: the first is being handled. */
  const connections = new Map<Socket, PendingRequest[]>();
  let pendingCount = 0;
  let held: PendingRequest[][] | undefined;

  server.on("connection", (socket: Socket) => {
    const pending: PendingRequest[] = [];
    connections.set(socket, pending);
    // Node resumes the socket for reasons of its own, for example when its buffer has drained.
    socket.on("resume", () => pending.length > 1 && socket.pause());
    socket.on("close", () => {
      pendingCount -= pending.splice(0).length;
      connections.delete(socket);
    });
  });
  server.on("request", (req, res) => {
    const pending = connections.get(req.socket);
    if (!pending) return; // The connection has closed.
    if (pending.length > 0 && pendingCount >= MAX_PENDING) {
      if (!req.socket.destroyed) onDrop();
      return req.socket.destroy();
    }
    pending.push({ req, res });
    pendingCount += 1;
    if (pending.length > 1) req.socket.pause();
    else if (held) held.push(pending);
    else handleFirst(pending);
  });

  function handleFirst(pending: PendingRequest[]) {
    const [first] = pending;
    if (!first?.req.socket.writable) return; // The connection closes: nothing more can be responded to.
    first.res.on("close", () => {
      if (pending.shift()) pendingCount -= 1;
      if (pending.length === 1) first.req.socket.resume();
      if (pending.length > 0) setImmediate(handleFirst, pending); // Other connections come in between.
    });
    listener(first.req, first.res);
  }

  return {
    connections: connections as ReadonlyMap<Socket, readonly PendingRequest[]>,
    countPending: () => pendingCount,
    /** Queues new requests until `release` is called. */
    hold() {
      held = [];
    },
    release() {
      for (const pending of held ?? []) setImmediate(handleFirst, pending);
      held = undefined;
    },
  };
}

export type RequestQueue = ReturnType<typeof queueRequests>;
