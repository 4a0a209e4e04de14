import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { afterAccepts, recordAccept } from "../server/after-accepts.ts";

/** A turn of the event loop that accepts a connection. */
async function accept() {
  recordAccept();
  await setImmediate();
}

test("work runs at once while no client is connecting", () => {
  const run = vi.fn<() => void>();
  afterAccepts(run);
  expect(run).toHaveBeenCalledOnce();
});

test.each([
  ["after the last accepted connection", 5, 0],
  ["after 64 connections, if clients go on connecting", 66, 1],
])("work runs %s", async (_when, accepts, expected) => {
  await accept();
  const run = vi.fn<() => void>();
  afterAccepts(run);
  for (let turn = 1; turn < accepts; turn++) await accept();
  expect(run).toHaveBeenCalledTimes(expected);
  await setImmediate();
  await setImmediate();
  expect(run).toHaveBeenCalledOnce();
});
