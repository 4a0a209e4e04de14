import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Request, Response } from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { bodyLimit, linger } from "./body-limit.ts";

test.each([
  ["5 s", 5000, 1],
  ["16 MiB", 1, 16 * 1024 * 1024],
])("the rest of a rejected body is read for at most %s", (_label, ms, bytes) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const req = Object.assign(new Readable({ read() {} }), { socket: new EventEmitter() });
  const close = vi.fn<() => void>();
  linger(req as unknown as IncomingMessage, close);
  vi.advanceTimersByTime(ms - 1);
  req.push(Buffer.alloc(bytes));
  expect(close).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  req.push(Buffer.alloc(1));
  expect(close).toHaveBeenCalledOnce();
});

test.each([
  ["in one chunk", ["b\r\naaaaaaaaaaa\r\n"]],
  ["in several", ["6\r\naaaaaa\r\n", "6\r\naaaaaa\r\n"]],
])(
  "the reader of a body that is too large, %s, gets an error and a close after the 413, but no end",
  async (_label, chunks) => {
    const seen: string[] = [];
    const limit = bodyLimit(10, (error, _req, res) => void res.writeHead(error.status).end());
    const server = createServer((req, res) => {
      for (const event of ["close", "end"]) req.on(event, () => seen.push(event));
      res.on("close", () => seen.push(`response ${res.statusCode}`));
      limit(req as Request, Object.assign(res, { locals: {} }) as unknown as Response, () => {
        req.on("error", (error: Error & { status?: number }) => seen.push(`error ${error.status}`)).resume();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    client.resume().write("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const chunk of chunks) {
      await setTimeout(20);
      client.write(chunk);
    }
    client.write("0\r\n\r\n");
    await once(client, "close");
    await expect.poll(() => seen).toEqual(["response 413", "error 413", "close"]);
  },
);
