import type { Server } from "node:http";
import type { RequestQueue } from "./pipelining.ts";

/**
 * Drops a client that for so long has sent no byte of its request and taken none of its response. What counts is
 * progress: a slow client stays, and so does one that waits for a response which the server is still working on, or for
 * the server to read what it has sent.
 */
export function dropStalledClients(
  server: Server,
  { connections }: RequestQueue,
  timeoutMs: number,
  onDrop: () => void,
) {
  server.setTimeout(timeoutMs, (socket) => {
    const [first] = connections.get(socket) ?? [];
    const waitsForServer = first && (first.req.complete || first.req.readableLength > 0);
    if (waitsForServer && socket.writableLength === 0) return;
    if (first) onDrop(); // Otherwise the connection was idle.
    socket.destroy();
  });
  server.on("request", (req, res) => {
    // Node gives the rest of a body whose response has ended as long as it gives an idle connection.
    res.on("finish", () => {
      if (!req.complete) req.socket.setTimeout(timeoutMs);
    });
  });
}
