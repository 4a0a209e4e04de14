import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { trackUpgrades } from "./upgrades.ts";

/** Requests that may be pending in all, at some 5 KB each, before a connection with more than one is dropped. */
const MAX_PENDING = 4000;

type PendingRequest = { req: IncomingMessage; res: ServerResponse };

/**
 * Handles the requests of a connection one after the other: concurrently, each would have a file open, and when the
 * connection closes, Node tells only the first response, so the others would never close theirs. While requests are
 * queued no more are read from the connection, or a client that reads no response could fill the memory.
 */
export function queueRequests(
  server: Server,
  listener: RequestListener,
  onDrop: () => void,
  onUpgrade: (req: IncomingMessage) => void = () => {},
) {
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
    if (req.socket.destroyed) return;
    if (pending.length > 0 && pendingCount >= MAX_PENDING) return drop(req.socket);
    pending.push({ req, res });
    pendingCount += 1;
    if (pending.length > 1) req.socket.pause();
    else if (held) held.push(pending);
    else handleFirst(pending);
  });

  /**
   * Node goes on making requests of what it has read (64 KB, of which some make 3,000), and frees them once the socket
   * has closed. No other connection is read until then: many that send as much in the same moment would fill the memory.
   */
  function drop(socket: Socket) {
    onDrop();
    socket.destroy();
    for (const other of connections.keys()) other.pause();
    setImmediate(() => {
      for (const [other, pending] of connections) if (pending.length <= 1) other.resume();
    });
  }

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
    upgraded: trackUpgrades(server, connections, onUpgrade),
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
