import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** The open connections that services have taken over for another protocol (RFC 9110 §7.8). */
export function trackUpgrades(
  server: Server,
  connections: ReadonlyMap<Socket, readonly unknown[]>,
  onUpgrade: (req: IncomingMessage) => void,
) {
  const upgraded = new Set<Socket>();
  // With a listener and no service, nobody would respond to an upgrade, which otherwise is an ordinary request.
  if (server.listenerCount("upgrade") === 0) return upgraded;
  server.prependListener("upgrade", (req: IncomingMessage, socket: Socket) => {
    onUpgrade(req);
    socket.on("error", () => {}); // Node has taken its own listener away, and an error would end the process.
    // The response to an earlier request would get in between the other protocol's bytes.
    if (connections.get(socket)?.length) return socket.destroy();
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
  });
  return upgraded as ReadonlySet<Socket>;
}
