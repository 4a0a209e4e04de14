import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { countSent } from "../node-internals.ts";

/** Bytes per second that a client must send or read, on average over its timeout. The same as in ASP.NET's Kestrel. */
const MIN_DATA_RATE = 240;
/** The time for a client to send its next request. */
const GRACE_MS = 1000;

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

/** Records what a client has sent and read. Other bytes, such as empty lines, are no progress. */
export function recordProgress(socket: Socket, connection: Connection, now: number) {
  const { pending, isUpgraded } = connection;
  const [res] = pending;
  const bytes = countSent(socket) + (isSending(socket, connection) ? socket.bytesRead : 0);
  if (bytes !== connection.bytes && (res || isUpgraded)) connection.progressAt = now;
  connection.bytes = bytes;
  if (res && !res.req.complete) connection.handledAt &&= Math.max(connection.handledAt, connection.progressAt);
}

/** Whether the server has waited for a client that was slower than MIN_DATA_RATE for all of the timeout. */
export function isStalled(socket: Socket, connection: Connection, now: number, timeoutMs: number) {
  if (!waitsForClient(socket, connection.unfinished)) {
    connection.measured = undefined;
    return false;
  }
  const current = { since: now, bytes: connection.bytes, isSending: isSending(socket, connection) };
  if (connection.measured?.isSending !== current.isSending) connection.measured = current;
  const elapsed = now - connection.measured.since;
  if (elapsed < timeoutMs) return false;
  const isSlow = current.bytes - connection.measured.bytes < (MIN_DATA_RATE * elapsed) / 1000;
  if (!isSlow) connection.measured = current;
  return isSlow;
}

/** Whether what a client sends is progress. If it doesn't read, nothing is. */
function isSending({ writableLength }: Socket, { isUpgraded, unfinished }: Connection) {
  return writableLength === 0 && (isUpgraded || unfinished?.complete === false);
}

/** Finds the connection to close at the limit: of the first in order, the one without progress for the longest. */
export function findFirstToGo(connections: ReadonlyMap<Socket, Connection>) {
  const now = performance.now();
  let found: Socket | undefined;
  let first = { rank: Number.POSITIVE_INFINITY, progressAt: 0 };
  for (const [socket, connection] of connections) {
    const { progressAt } = connection;
    const next = { rank: rank(socket, connection, now), progressAt };
    if (next.rank > first.rank || (next.rank === first.rank && progressAt >= first.progressAt)) continue;
    found = socket;
    first = next;
  }
  return found;
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
