import type { Server } from "node:http";
import type { Socket } from "node:net";

const CHECK_INTERVAL_MS = 2000;
/** A client that takes nothing of what waits for it in this time is disconnected. */
const READ_TIMEOUT_MS = 20_000;

/** Node limits how slowly a client may send; this limits how slowly it may read. */
export function dropSlowReaders(server: Server) {
  const readers = new Map<Socket, { bytesTaken: number; since: number }>();
  server.on("connection", (socket: Socket) => {
    readers.set(socket, { bytesTaken: 0, since: Date.now() });
    socket.once("close", () => readers.delete(socket));
  });
  setInterval(() => {
    const now = Date.now();
    for (const [socket, last] of readers) {
      const bytesTaken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytesTaken !== last.bytesTaken)
        readers.set(socket, { bytesTaken, since: now });
      else if (now - last.since > READ_TIMEOUT_MS) socket.destroy();
    }
  }, CHECK_INTERVAL_MS).unref();
}
