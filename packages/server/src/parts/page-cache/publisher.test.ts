import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { createPublisher } from "./publisher.ts";

const INVALIDATION = { groups: [], paths: ["/shop"], prefixes: [] };

function connect(send: () => Promise<unknown>) {
  const publisher = createPublisher({
    shutdown: new AbortController().signal,
    log: pino({ level: "silent" }),
    onLate() {},
  });
  publisher.connect(send);
  return publisher;
}

test("a message that can't be sent is sent again", async () => {
  const send = vi.fn().mockRejectedValueOnce(new Error("down")).mockResolvedValue(2);
  const publisher = connect(send);
  expect(await publisher.publish(INVALIDATION)).toEqual({ others: "waiting" });
  await vi.waitFor(() => expect(publisher.isWaiting()).toBe(false), 10_000);
  expect(send).toHaveBeenCalledTimes(2);
});

test("after the end, nothing is sent again", async () => {
  const send = vi.fn().mockRejectedValue(new Error("down"));
  const publisher = connect(send);
  await publisher.publish(INVALIDATION);
  publisher.close();
  await setTimeout(1500); // Longer than between two attempts.
  expect(send).toHaveBeenCalledTimes(1);
});
