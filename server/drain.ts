import { once } from "node:events";
import type { RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/**
 * Once the server stops, an idle connection is kept for this many ms: a client that uses it within
 * them is answered with `Connection: close`, instead of losing a request that was on its way.
 */
const IDLE_PATIENCE = 250;
/** The listener closes once nobody has connected for this many ms, */
const QUIET = 2;
/** or after this many tries. */
const MOST_TRIES = 25;

/** Has a server answer its requests in a way that lets it be closed without dropping one. */
export function answerRequests(server: Server, listener: RequestListener) {
  const connections = new Set<Socket>();
  const unanswered = new Set<ServerResponse>();
  let accepted = 0;
  let isClosing = false;
  let held: (() => void)[] | undefined;

  server.on("connection", (socket: Socket) => {
    accepted += 1;
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => {
    unanswered.add(res);
    res.once("close", () => unanswered.delete(res));
    if (isClosing) res.shouldKeepAlive = false;
    if (held) held.push(() => listener(req, res));
    else listener(req, res);
  });

  /**
   * The kernel resets the connections that wait in the listener's queue when it closes. So answers
   * are held back, upon which most clients would connect anew, until that queue stays empty.
   */
  async function closeListener() {
    held = [];
    let before: number;
    let tries = 0;
    do {
      before = accepted;
      await setTimeout(QUIET);
      await setImmediate(); // The event loop accepts whoever waits just before this resolves.
      tries += 1;
    } while (accepted > before && tries < MOST_TRIES);
    // Not http's own close: it also destroys at once what it takes for idle, be there a request
    // on its way, or the last bytes of an answer.
    NetServer.prototype.close.call(server);
    for (const answer of held) queueMicrotask(answer); // Should one throw, the others are answered none the less.
    held = undefined;
  }

  return {
    count: () => ({ connections: connections.size, unanswered: unanswered.size }),
    /** Lets nobody in, answers what is in flight, and resolves with how many answers it cut at the timeout (ms). */
    async drain(timeout: number) {
      const closed = once(server, "close");
      const deadline = setTimeout(timeout);
      isClosing = true;
      server.keepAliveTimeout = IDLE_PATIENCE; // For connections whose answer has already said keep-alive.
      for (const res of lastOfEachConnection(unanswered).values()) res.shouldKeepAlive = false;
      await closeListener();

      await Promise.race([closed, deadline, setTimeout(IDLE_PATIENCE)]);
      await setImmediate(); // Requests that came while the process was kept from running are read first.
      const busy = lastOfEachConnection(unanswered);
      for (const socket of connections) if (!busy.has(socket)) socket.destroy();

      await Promise.race([closed, deadline]);
      const cut = unanswered.size;
      server.closeAllConnections();
      return cut;
    },
  };
}

/** Where a client sends several requests without waiting, only the last answer may close the connection. */
function lastOfEachConnection(unanswered: Set<ServerResponse>) {
  return new Map([...unanswered].map((res) => [res.req.socket, res]));
}
