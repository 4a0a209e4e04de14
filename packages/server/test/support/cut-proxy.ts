import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Forwards connections to a port. While it is cut, it accepts connections and bytes, but forwards none. */
export async function startCutProxy(port: number) {
  const pairs = new Map<Socket, Socket | undefined>();
  let isCut = false;
  const proxy = createServer((socket) => {
    const upstream = isCut ? undefined : connect(port, "127.0.0.1");
    pairs.set(socket, upstream);
    socket.on("error", () => {}).on("close", () => upstream?.destroy());
    upstream?.on("error", () => {}).on("close", () => socket.destroy());
    if (upstream) socket.pipe(upstream).pipe(socket);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const destroyAll = () => {
    for (const socket of pairs.keys()) socket.destroy();
    pairs.clear();
  };
  return {
    host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      for (const [socket, upstream] of pairs) {
        if (upstream) socket.unpipe(upstream);
        upstream?.unpipe(socket);
      }
    },
    restore() {
      isCut = false;
      destroyAll();
    },
    stop() {
      proxy.close();
      destroyAll();
    },
  };
}
