import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { expect, onTestFinished, test, vi } from "vitest";
import { createProcesses, ProcessSchema } from "./processes.ts";

const INVALIDATION = { groups: ["a"], paths: [], prefixes: [] };

/** Processes on one channel. A message doesn't reach the ones that are `frozen`. */
function connect(count: number) {
  const frozen = new Set<number>();
  const messages: { from: string }[] = [];
  const processes: ReturnType<typeof createProcesses>[] = [];
  const start = () => {
    const process = createProcesses();
    processes.push(process);
    process.connect(async (text) => {
      const message = JSON.parse(text);
      await setTimeout(1);
      for (const [index, other] of processes.entries())
        if (!frozen.has(index) && !other.isOwn(message)) other.receive(v.parse(ProcessSchema, message));
      messages.push(message);
    });
    process.announceName();
    onTestFinished(() => process.close());
  };
  for (let i = 0; i < count; i += 1) start();
  const purge = (index = 0) =>
    processes[index]?.confirm(async (id) => {
      await processes[index]?.send({ ...INVALIDATION, purge: id });
      return { others: "published" };
    });
  return { processes, start, frozen, messages, purge };
}

const name = expect.stringContaining(`(process ${process.pid})`);

test("a purge is confirmed by each process, and by none that has ended", async () => {
  const { processes, purge } = connect(3);
  await expect.poll(() => purge()).toEqual({ others: "published", confirmed: [name, name, name], unconfirmed: [] });
  await processes[2]?.close();
  expect(await purge()).toEqual({ others: "published", confirmed: [name, name], unconfirmed: [] });
});

test("a process that has been heard, and gets no message, is named", async () => {
  const { frozen, purge } = connect(3);
  await expect.poll(() => purge()).toMatchObject({ confirmed: [name, name, name] });
  frozen.add(1);
  expect(await purge()).toEqual({ others: "unconfirmed", confirmed: [name, name], unconfirmed: [name] });
});

test("a process that is silent for minutes is named for an hour, and no purge waits for it", async () => {
  const { frozen, purge } = connect(2);
  await expect.poll(() => purge()).toMatchObject({ confirmed: [name, name] });
  frozen.add(1);
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(120_000);
  const sentAt = performance.now();
  expect(await purge()).toMatchObject({ others: "unconfirmed", unconfirmed: [name] });
  expect(performance.now()).toBe(sentAt);
  vi.advanceTimersByTime(3_600_000);
  expect(await purge()).toMatchObject({ others: "published", unconfirmed: [] });
});

test("a process that starts later learns the names of the others", async () => {
  const { start, frozen, messages, purge } = connect(2);
  await expect.poll(() => purge()).toMatchObject({ confirmed: [name, name] });
  messages.length = 0;
  start();
  await expect.poll(() => new Set(messages.map(({ from }) => from)).size, { timeout: 30_000 }).toBe(3);
  frozen.add(0).add(1);
  expect(await purge(2)).toMatchObject({ confirmed: [name], unconfirmed: [name, name] });
});

test("a message of an older release, and a confirmation of no purge, are ignored", async () => {
  const { processes, messages, purge } = connect(1);
  await expect.poll(() => messages).toHaveLength(1);
  processes[0]?.receive({ from: "old", isLeaving: false });
  processes[0]?.receive({ from: "other", name: "other", confirms: "none", isLeaving: false });
  processes[0]?.receive({ from: "other", isLeaving: true });
  expect(await purge()).toMatchObject({ confirmed: [name], unconfirmed: [] });
});

test("a purge that isn't published doesn't wait", async () => {
  const { processes, purge } = connect(2);
  await expect.poll(() => purge()).toMatchObject({ confirmed: [name, name] });
  expect(await processes[0]?.confirm(async () => ({ others: "waiting" }))).toEqual({ others: "waiting" });
});
