import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { closeListener } from "../node-internals.ts";
import type { Connections } from "../overload/index.ts";

/**
 * Idle connections stay open this long: a client that sends a request meanwhile gets a response with
 * `Connection: close`, instead of losing a request that was on its way.
 */
const IDLE_TIMEOUT_MS = 500;
/** The listening socket closes after an interval without a new connection. */
const ACCEPT_INTERVAL_MS = 2;
/** It closes after this many intervals in any case. */
const MAX_INTERVALS = 25;

/**
 * Stops accepting connections, aborts `shutdown`, and waits for pending requests and upgraded connections. Resolves
 * with the number of requests and upgraded connections that it cut at the timeout.
 */
export async function drain(server: Server, connections: Connections, shutdown: AbortController, timeoutMs: number) {
  const closed = new Promise<boolean>((resolve) => server.once("close", () => resolve(true)));
  const deadline = setTimeout(timeoutMs, false);
  server.prependListener("request", (_req, res: ServerResponse) => {
    res.shouldKeepAlive = false;
  });
  server.keepAliveTimeout = IDLE_TIMEOUT_MS; // For connections whose response has promised keep-alive.
  // Of requests pipelined so far, only the last response closes the connection.
  for (const { pending } of connections.all.values()) {
    const last = [...pending].at(-1);
    if (last && !last.headersSent) last.shouldKeepAlive = false;
  }
  await stopAccepting(server, connections);
  server.removeAllListeners("upgrade"); // An upgrade is an ordinary request from now on.
  shutdown.abort();

  await Promise.race([closed, deadline, setTimeout(IDLE_TIMEOUT_MS)]);
  await setImmediate(); // Reads requests that arrived while the process was blocked.
  for (const [socket, { pending, isUpgraded }] of connections.all) {
    if (pending.size === 0 && !isUpgraded) socket.destroySoon();
  }

  const isClosed = await Promise.race([closed, deadline]);
  const cut = isClosed ? 0 : connections.countPending() + connections.countUpgraded();
  await Promise.all([...connections.all.keys()].map(destroy)); // Cut requests are logged when their connection closes.
  return cut;
}

/**
 * Closes the listening socket without losing a client. The kernel resets the connections that wait in its accept queue
 * when that socket closes. So the server reads no request until the queue is empty: clients that wait for
 * responses open few new connections. A client that connects between the last accept(2) and close(2) is still reset.
 */
async function stopAccepting(server: Server, { all }: Connections) {
  let accepted = 0;
  // Node starts to read after this event.
  const hold = (socket: Socket) => {
    accepted += 1;
    process.nextTick(() => socket.pause());
  };
  server.on("connection", hold);
  for (const socket of all.keys()) socket.pause();
  let before: number;
  let intervals = 0;
  do {
    before = accepted;
    await setTimeout(ACCEPT_INTERVAL_MS);
    await setImmediate(); // The event loop accepts the next connection just before this resolves.
    intervals += 1;
  } while (accepted > before && intervals < MAX_INTERVALS);
  closeListener(server);
  for (const socket of all.keys()) socket.resume();
}

function destroy(socket: Socket) {
  return new Promise((resolve) => socket.once("close", resolve).destroy());
}
