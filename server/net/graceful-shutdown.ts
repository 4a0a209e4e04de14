import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { RequestQueue } from "./pipelining.ts";
import { stopAccepting } from "./stop-accepting.ts";

/**
 * Idle connections stay open this long: a client that sends a request meanwhile gets a response with
 * `Connection: close`, instead of losing a request that was on its way.
 */
const IDLE_TIMEOUT_MS = 500;

/**
 * Accepts nobody any more, says so through `shutdown`, waits for pending requests and upgraded connections, and resolves
 * with how many of both it cut at the timeout.
 */
export async function drain(server: Server, queue: RequestQueue, shutdown: AbortController, timeoutMs: number) {
  const { connections, upgraded, countPending } = queue;
  const closed = new Promise<boolean>((resolve) => server.once("close", () => resolve(true)));
  const deadline = setTimeout(timeoutMs, false);
  server.prependListener("request", (_req, res: ServerResponse) => {
    res.shouldKeepAlive = false;
  });
  server.keepAliveTimeout = IDLE_TIMEOUT_MS; // For connections whose response has already said keep-alive.
  // Of pipelined requests, only the last response may close the connection.
  for (const pending of connections.values()) {
    const last = pending.at(-1);
    if (last) last.res.shouldKeepAlive = false;
  }
  await stopAccepting(server, queue);
  server.removeAllListeners("upgrade"); // It is an ordinary request now.
  shutdown.abort();

  await Promise.race([closed, deadline, setTimeout(IDLE_TIMEOUT_MS)]);
  await setImmediate(); // Requests that came while the process was kept from running are read first.
  for (const [socket, pending] of connections) {
    if (pending.length === 0 && !upgraded.has(socket)) socket.destroySoon();
  }

  const isClosed = await Promise.race([closed, deadline]);
  const cut = isClosed ? 0 : countPending() + upgraded.size;
  await Promise.all([...connections.keys()].map(destroy)); // What was cut is logged as its connection closes.
  return cut;
}

function destroy(socket: Socket) {
  return new Promise((resolve) => socket.once("close", resolve).destroy());
}
