// What takes long behind nginx.conf, haproxy.cfg and varnish.vcl.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect as connectPlain } from "node:net";
import { setTimeout } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { test } from "vitest";
import { PROXY_NAMES, startProxy } from "./start-proxy.ts";

/** Longer than a proxy waits for a response before it tries another process. */
const LONG_MS = 10_000;

const title = "%s passes WebSockets, events at once and after a pause, and a response that takes long";
test.concurrent.for(PROXY_NAMES)(title, async (name, { expect, onTestFinished }) => {
  const server = createServer(async (req, res) => {
    if (req.url === "/events") {
      const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" };
      res.writeHead(200, headers).write("data: first\n\n");
    }
    if (["/events", "/slow"].includes(req.url ?? "")) await setTimeout(LONG_MS);
    res.end("data: last\n\n");
  });
  server.on("upgrade", (_req, socket) => {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    );
    socket.on("data", (data) => socket.write(`echo ${data}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = String((server.address() as AddressInfo).port);
  const proxy = await startProxy(name, Array(3).fill({ port, opsPort: port }));
  onTestFinished(async () => {
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  });
  const exchange = async (head: string, awaited: string, then = "") => {
    const { hostname: host, port, protocol } = new URL(proxy.origin);
    const options = { host, port: Number(port), ca: proxy.cert, checkServerIdentity: () => undefined };
    const socket = protocol === "https:" ? connectTls(options) : connectPlain(options);
    let received = "";
    socket.on("data", (data) => (received += data));
    socket.write(`${head}\r\nHost: x\r\n\r\n`);
    await expect.poll(() => received).toContain(awaited);
    if (then) {
      socket.write(then);
      await expect.poll(() => received).toContain(`echo ${then}`);
    }
    socket.destroy();
  };
  const events = "GET /events HTTP/1.1\r\nAccept: text/event-stream";
  await exchange(events, "data: first");
  await Promise.all([exchange(events, "data: last"), exchange("GET /slow HTTP/1.1", "data: last")]);
  // The key of RFC 6455's example.
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const upgrade = `GET /socket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`;
  await exchange(upgrade, "HTTP/1.1 101", "hello");
});
