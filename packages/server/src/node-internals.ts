// What the engine uses of Node beyond its documentation. `node-internals.test.ts` fails where Node changes it. It
// passes on 20.20, 22, 24 and 26. Where one is missing, its function falls back as its comment says; `close` and `push`
// are public.
import type { EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

type Internals = {
  _handle?: { bytesWritten?: number; writeQueueSize?: number } | null;
  parser?: { onIncoming?: unknown } | null;
};

/**
 * The bytes of a connection that the kernel has taken. `socket.bytesWritten` counts an unfinished write as a whole. It
 * is used if the handle has no counters: then, a client that reads slowly is seen late.
 */
export function countSent(socket: Socket) {
  const { bytesWritten = socket.bytesWritten, writeQueueSize = 0 } = (socket as Internals)._handle ?? {};
  return bytesWritten - writeQueueSize;
}

/**
 * Stops parsing the 64 KB that a connection has read. Without the parser, the rest of its requests is still created.
 */
export function stopParsing(socket: Socket) {
  const { parser } = socket as Internals;
  if (parser?.onIncoming) parser.onIncoming = () => 0;
}

/**
 * Calls back when a response can be sent: a pipelined one gets its socket when the one before it has ended. Without the
 * event, it would wait until its connection is closed.
 */
export function onAssigned(res: ServerResponse, callback: () => void) {
  if (res.socket) callback();
  else res.once("socket", callback);
}

/**
 * Lets go of the responses that were pipelined behind a closed one, which its handler may keep for long. Before Node
 * 24, Node's listeners and this method keep them, with what has arrived of their requests. So do the listeners of the
 * connection, which `releaseConnection` removes. Node 24 does this itself.
 */
export function releaseResponse(res: ServerResponse) {
  removeOwnListener(res, "finish", "bound resOnFinish");
  Object.assign(res, { _onPendingData() {} });
}

/** Removes Node's listeners of a closed connection that keep its requests. */
export function releaseConnection(socket: Socket) {
  removeOwnListener(socket, "close", "bound socketOnClose");
  removeOwnListener(socket, "data", "bound socketOnData");
  removeOwnListener(socket, "drain", "bound socketOnDrain");
  removeOwnListener(socket, "end", "bound socketOnEnd");
}

/** Removes Node's own listener, by its name. If Node has renamed it, it stays. So do the listeners of a site. */
export function removeOwnListener(emitter: EventEmitter, event: string, name: string) {
  for (const listener of emitter.rawListeners(event)) {
    if (listener.name === name) emitter.removeListener(event, listener as () => void);
  }
}

/**
 * Closes the listening socket alone. http's own `close` would also destroy connections whose next request is on its
 * way, or whose last response has unsent bytes (nodejs/node#60617).
 */
export function closeListener(server: Server) {
  NetServer.prototype.close.call(server);
}

/**
 * Calls `accept` for each chunk of a body, and with null for its end, and discards what it doesn't accept. A listener
 * for "data" would start the stream before the route reads it. If Node didn't call `push`, nothing would be discarded.
 */
export function filterBody(req: IncomingMessage, accept: (chunk: Buffer | null) => boolean) {
  const push = req.push.bind(req);
  req.push = (chunk: Buffer | null) => (accept(chunk) ? push(chunk) : true);
  // Once the response has ended, `_dump` would discard the chunks without `push`.
  Object.assign(req, { _dump: req.resume });
}
