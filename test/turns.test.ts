import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { recordAccept, runInTurn } from "../server/turns.ts";

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
