import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { createPublisher } from "./publisher.ts";

const INVALIDATION = { groups: [], paths: ["/shop"], prefixes: [] };

function connect(send: () => Promise<unknown>) {
  let readWait = () => -1;
  const publisher = createPublisher({
    shutdown: new AbortController().signal,
    log: pino({ level: "silent" }),
    metrics: {
      measurePublishWait(readSeconds) {
        readWait = readSeconds;
      },
    },
    onLate() {},
  });
  publisher.connect(send);
  return { ...publisher, readWait };
}

test("a message that can't be sent is sent again, and the wait is measured until then", async () => {
  const send = vi.fn().mockRejectedValueOnce(new Error("down")).mockResolvedValue(2);
  const publisher = connect(send);
  expect(publisher.readWait()).toBe(0);
  expect(await publisher.publish(INVALIDATION)).toEqual({ others: "waiting" });
  await vi.waitFor(() => expect(publisher.readWait()).toBeGreaterThan(0.5), 10_000);
  await vi.waitFor(() => expect(publisher.isWaiting()).toBe(false), 10_000);
  expect([send.mock.calls.length, publisher.readWait()]).toEqual([2, 0]);
});

test("after the end, nothing is sent again", async () => {
  const send = vi.fn().mockRejectedValue(new Error("down"));
  const publisher = connect(send);
  await publisher.publish(INVALIDATION);
  publisher.close();
  await setTimeout(1500); // Longer than between two attempts.
  expect(send).toHaveBeenCalledTimes(1);
});
