// Clients, and the memory that they share.
import { expect, inject, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { startServer } from "./support/start-server.ts";

const FOLDER = inject("grownFolder");
const MB = 1024 * 1024;

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
