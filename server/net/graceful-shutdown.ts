import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/**
 * Once the server stops, an idle connection is kept for this many ms: a client that uses it within
 * them is answered with `Connection: close`, instead of losing a request that was on its way.
 */
const IDLE_PATIENCE = 500;
/** The listener closes once nobody has connected for this many ms, */
const QUIET = 2;
/** or after this many tries. */
const MOST_TRIES = 25;

/**
 * Requests that a client may send at once, without waiting for an answer. Browsers and proxies send
 * one; who sends thousands and takes no answer would have Node keep all of these.
 */
const MOST_AT_ONCE = 32;

type Turn = { req: IncomingMessage; res: ServerResponse };

type Connection = {
  /** Bytes that had come in when its last request was seen, and how many requests came with these. */
  bytesRead: number;
  atOnce: number;
  /** Its requests whose answers have not ended: the first is being answered, the others wait. */
  turns: Turn[];
};

/** Has a server answer its requests in a way that lets it be closed without dropping one. */
export function answerRequests(server: Server, listener: RequestListener) {
  const connections = new Map<Socket, Connection>();
  let accepted = 0;
  let isClosing = false;
  let held: (() => void)[] | undefined;

  server.on("connection", (socket: Socket) => {
    accepted += 1;
    connections.set(socket, { bytesRead: 0, atOnce: 0, turns: [] });
    socket.on("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    if (!connection) return; // It has ended.
    const { bytesRead } = socket;
    connection.atOnce = connection.bytesRead === bytesRead ? connection.atOnce + 1 : 1;
    connection.bytesRead = bytesRead;
    if (connection.atOnce > MOST_AT_ONCE) return socket.destroy();

    if (isClosing) res.shouldKeepAlive = false;
    const { turns } = connection;
    turns.push({ req, res });
    if (turns.length > 1) return;
    if (held) held.push(() => answerInTurn(turns));
    else answerInTurn(turns);
  });

  /**
   * Answers a connection's requests one after the other. At once, each would have a file open; and
   * when the connection ends, Node tells only the first answer, so the others would never close theirs.
   */
  function answerInTurn(turns: Turn[]) {
    for (let turn = turns[0]; turn?.req.socket.writable; turn = turns[0]) {
      listener(turn.req, turn.res);
      if (!turn.res.writableEnded) {
        turn.res.on("close", () => {
          turns.shift();
          answerInTurn(turns);
        });
        return;
      }
      turns.shift(); // It was answered from memory.
    }
  }

  const countUnanswered = () => [...connections.values()].reduce((sum, { turns }) => sum + turns.length, 0);

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
    count: () => ({ connections: connections.size, unanswered: countUnanswered() }),
    /** Lets nobody in, answers what is in flight, and resolves with how many answers it cut at the timeout (ms). */
    async drain(timeout: number) {
      const closed = once(server, "close");
      const deadline = setTimeout(timeout);
      isClosing = true;
      server.keepAliveTimeout = IDLE_PATIENCE; // For connections whose answer has already said keep-alive.
      for (const { turns } of connections.values()) {
        // Of several requests sent without waiting, only the last answer may close the connection.
        const last = turns.at(-1);
        if (last) last.res.shouldKeepAlive = false;
      }
      await closeListener();

      await Promise.race([closed, deadline, setTimeout(IDLE_PATIENCE)]);
      await setImmediate(); // Requests that came while the process was kept from running are read first.
      for (const [socket, { turns }] of connections) if (turns.length === 0) socket.destroySoon();

      await Promise.race([closed, deadline]);
      const cut = countUnanswered();
      server.closeAllConnections();
      return cut;
    },
  };
}
