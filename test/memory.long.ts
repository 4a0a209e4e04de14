// What clients can do to the memory that is theirs in common.
import { connect } from "node:net";
import { expect, inject, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { startServer } from "./support/start-server.ts";

const FOLDER = inject("grownFolder");
const MB = 1024 * 1024;

test("many connections that pipeline thousands of requests don't fill a small heap; most are dropped, and counted", async () => {
  const server = await startServer({ NODE_OPTIONS: "--max-old-space-size=48" }, FOLDER);
  const shortest = "GET / HTTP/1.1\r\nHost:\r\n\r\n";
  const port = Number(new URL(server.url).port);
  const sockets = Array.from({ length: 100 }, () =>
    connect(port, "127.0.0.1")
      .on("error", () => {})
      .resume(),
  );
  for (const socket of sockets) socket.write(shortest.repeat(4000));
  await expect
    .poll(() => sockets.every(({ destroyed, writableLength }) => destroyed || writableLength === 0))
    .toBe(true);
  expect((await fetch(server.url)).status).toBe(200);
  const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text();
  expect(Number(/connections_dropped_total\{reason="pending"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

test("a body of 200 MB takes no memory", async () => {
  const server = await startServer({}, FOLDER);
  const before = await readProcessMetrics(server);
  const chunk = `${MB.toString(16)}\r\n${"a".repeat(MB)}\r\n`;
  const lines = [
    "POST /example-pages/echo HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    "Content-Type: multipart/form-data; boundary=b",
    "Transfer-Encoding: chunked",
    "",
    "",
  ];
  const { isClosed } = await exchange(server.url, lines.join("\r\n") + chunk.repeat(200));
  expect(isClosed).toBe(true);
  const after = await readProcessMetrics(server);
  expect(after.residentMB - before.residentMB).toBeLessThan(50);
  await server.stop();
});
