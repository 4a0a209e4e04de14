import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { linger } from "./body-limit.ts";

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
