import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { RequestQueue } from "./pipelining.ts";

/** The listening socket closes after an interval in which nobody has connected. */
const IDLE_INTERVAL_MS = 2;
/** It closes after this many intervals in any case. */
const MAX_INTERVALS = 25;

/**
 * Closes the listening socket without losing a client. The kernel resets the connections that wait in its accept
 * queue when that socket closes. So new requests are held until the queue stays empty: most clients connect again only
 * once they have their response. Who connects between the last accept(2) and close(2) is reset even so; no program can
 * exclude that.
 */
export async function stopAccepting(server: Server, queue: RequestQueue) {
  let accepted = 0;
  server.on("connection", () => {
    accepted += 1;
  });
  queue.hold();
  let before: number;
  let intervals = 0;
  do {
    before = accepted;
    await setTimeout(IDLE_INTERVAL_MS);
    await setImmediate(); // The event loop accepts whoever waits just before this resolves.
    intervals += 1;
  } while (accepted > before && intervals < MAX_INTERVALS);
  // Not http's own close: it also destroys at once what it takes for idle, be there a request
  // on its way, or the last bytes of a response.
  NetServer.prototype.close.call(server);
  queue.release();
}
