import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { admitInTurn, recordAccept, runAtOnce, runInTurn } from "../server/turns.ts";

test("after 2 ms of work, the rest waits for the next turn", async () => {
  const done: string[] = [];
  const work = (name: string, ms: number) => () => {
    const endsAt = performance.now() + ms;
    while (performance.now() < endsAt);
    done.push(name);
  };
  for (const [name, ms] of [
    ["short", 0],
    ["long", 3],
    ["next", 0],
  ] as const)
    runInTurn(work(name, ms));
  await setImmediate();
  expect(done).toEqual(["short", "long"]);
  await setImmediate();
  expect(done).toEqual(["short", "long", "next"]);
});

test("while other work waits, admitted work gets half of the time; otherwise one is admitted in each turn", async () => {
  let done = 0;
  const admit = vi.fn<() => void>(() => {
    const endsAt = performance.now() + 10;
    while (performance.now() < endsAt);
    if (done < 100) admitInTurn(admit);
  });
  admitInTurn(admit);
  await setImmediate();
  await setImmediate();
  expect(admit).toHaveBeenCalledTimes(2);
  for (let count = 0; count < 100; count++) {
    runInTurn(() => {
      const endsAt = performance.now() + 1;
      while (performance.now() < endsAt);
      done += 1;
    });
  }
  let turns = 0;
  for (; done < 100; turns++) await setImmediate();
  expect(admit.mock.calls.length).toBeGreaterThan(5);
  expect(admit.mock.calls.length).toBeLessThan(turns);
});

test("one piece of work in each turn runs at once", async () => {
  const done: string[] = [];
  for (const name of ["first", "second"]) runAtOnce(() => done.push(name));
  expect(done).toEqual(["first"]);
  await expect.poll(() => done).toEqual(["first", "second"]);
});

test.each([
  ["in the same turn, if no client is connecting", 0, 0],
  ["after the last accepted connection", 5, 0],
  ["after 64 connections, if clients go on connecting", 66, 1],
])("work runs %s", async (_when, accepts, expected) => {
  const run = vi.fn<() => void>();
  runInTurn(run);
  for (let turn = 0; turn < accepts; turn++) {
    recordAccept();
    await setImmediate();
  }
  expect(run).toHaveBeenCalledTimes(expected);
  await setImmediate();
  expect(run).toHaveBeenCalledOnce();
});

test("a pause after an admission doesn't count as its time", async () => {
  const admit = vi.fn<() => void>();
  admitInTurn(admit);
  await setTimeout(200);
  admitInTurn(admit);
  runInTurn(() => {});
  for (let turn = 0; turn < 3; turn++) {
    runInTurn(() => runInTurn(() => {}));
    await setImmediate();
  }
  expect(admit).toHaveBeenCalledTimes(2);
});
