import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Requests that a client may pipeline. Browsers and proxies don't pipeline; a client that sends thousands and reads
 * no response would have Node keep all of them.
 */
const MAX_PIPELINED = 32;

type PendingRequest = { req: IncomingMessage; res: ServerResponse };

type Connection = {
  /** Bytes received when its last request was parsed, and how many requests came with them. */
  bytesRead: number;
  pipelined: number;
  /** Its requests whose responses have not ended: the first is being handled, the others are queued. */
  pending: PendingRequest[];
};

/**
 * Handles the requests of a connection one after the other. Concurrently, each would have a file open; and when the
 * connection closes, Node tells only the first response, so the others would never close theirs.
 */
export function queueRequests(server: Server, listener: RequestListener) {
  const connections = new Map<Socket, Connection>();
  let held: PendingRequest[][] | undefined;

  server.on("connection", (socket: Socket) => {
    connections.set(socket, { bytesRead: 0, pipelined: 0, pending: [] });
    socket.on("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    if (!connection) return; // It has closed.
    const { bytesRead } = socket;
    connection.pipelined = connection.bytesRead === bytesRead ? connection.pipelined + 1 : 1;
    connection.bytesRead = bytesRead;
    if (connection.pipelined > MAX_PIPELINED) return socket.destroy();

    const { pending } = connection;
    pending.push({ req, res });
    if (pending.length > 1) return;
    if (held) held.push(pending);
    else handleNext(pending);
  });

  function handleNext(pending: PendingRequest[]) {
    for (let next = pending[0]; next?.req.socket.writable; next = pending[0]) {
      listener(next.req, next.res);
      if (!next.res.writableEnded) {
        next.res.on("close", () => {
          pending.shift();
          handleNext(pending);
        });
        return;
      }
      pending.shift(); // The response came from memory.
    }
  }

  return {
    connections: connections as ReadonlyMap<Socket, { pending: readonly PendingRequest[] }>,
    countPending: () => [...connections.values()].reduce((sum, { pending }) => sum + pending.length, 0),
    /** Queues new requests until `release` is called. */
    hold() {
      held = [];
    },
    release() {
      // Should one throw, the others are handled none the less.
      for (const pending of held ?? []) queueMicrotask(() => handleNext(pending));
      held = undefined;
    },
  };
}

export type RequestQueue = ReturnType<typeof queueRequests>;
