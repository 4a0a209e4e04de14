import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import v8 from "node:v8";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { exposeSpies } from "../../test/support/expose-spies.ts";
import { createSlotQueue, OVERLOADED } from "./slot-queue.ts";
import { createTurns } from "./turns.ts";

const heap = { ...v8.getHeapStatistics(), used_heap_size: 0, heap_size_limit: 100 };

beforeEach(() => {
  vi.spyOn(v8, "getHeapStatistics").mockReturnValue(heap);
  exposeSpies();
});
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const turns = createTurns();

/** Takes slots of a queue of 10, and returns what has been admitted and rejected so far. */
function acquireAll(weights: number[], responses: ServerResponse[] = []) {
  const onShed = vi.fn<() => void>();
  const slots = createSlotQueue({ limit: 10, maxWaiting: 3, turns, onShed });
  const admitted: number[] = [];
  const rejected: unknown[] = [];
  const releases: (() => void)[] = [];
  weights.forEach((weight, index) => {
    const admit = (release: () => void) => {
      admitted.push(weight);
      releases.push(release);
    };
    slots.acquire({ weight }, responses[index]).then(admit, (error) => rejected.push(error));
  });
  return { slots, admitted, rejected, releases, onShed };
}

const waitTurns = async (count = 5) => {
  for (let turn = 0; turn < count; turn++) await setImmediate();
};

test.each([
  ["work within the limit", [4, 6], [4, 6]],
  ["work beyond the limit waits, in order", [6, 6, 1], [6]],
  ["work that is heavier than the limit runs alone", [11, 1], [11]],
])("%s", async (_label, weights, expected) => {
  const { admitted } = acquireAll(weights);
  await waitTurns();
  expect(admitted).toEqual(expected);
});

test.each([
  ["70 % of the heap is used", 70, [1, 1, 1]],
  ["more of the heap is used", 71, [1]],
])("if %s, the admitted weights are $2", async (_label, used, expected) => {
  heap.used_heap_size = used;
  const { slots, admitted } = acquireAll([1, 1, 1]);
  await waitTurns();
  expect(admitted).toEqual(expected);
  expect(slots.tryAcquire() !== undefined).toBe(used <= 70);
  heap.used_heap_size = 0;
});

test("work that waited because of a full heap is admitted once the heap is no longer full", async () => {
  heap.used_heap_size = 90;
  const { slots, admitted } = acquireAll([1, 1]);
  await waitTurns();
  heap.used_heap_size = 0;
  slots.schedule();
  await waitTurns();
  expect(admitted).toEqual([1, 1]);
});

test("each turn of the event loop admits one item of work", async () => {
  const { admitted } = acquireAll([1, 1, 1]);
  for (const expected of [[1], [1, 1], [1, 1, 1]]) {
    await setImmediate();
    expect(admitted).toEqual(expected);
  }
});

test.each([
  ["while clients are connecting", 5, 0],
  ["for at most 64 connections", 66, 1],
])("work waits %s", async (_label, accepts, expected) => {
  const { admitted } = acquireAll([1]);
  for (let turn = 0; turn < accepts; turn++) {
    turns.recordAccept();
    await setImmediate();
  }
  expect(admitted).toHaveLength(expected);
  await waitTurns();
  expect(admitted).toEqual([1]);
});

test("a release admits the next work", async () => {
  const { slots, admitted, releases } = acquireAll([10, 3]);
  await waitTurns();
  expect(slots.tryAcquire()).toBeUndefined();
  releases[0]?.();
  await waitTurns();
  expect(admitted).toEqual([10, 3]);
  expect(slots.getUsed()).toBe(3);
});

test("a weight of 1 that is free is taken past the queue", async () => {
  const { slots, admitted } = acquireAll([6, 6]);
  await waitTurns();
  expect(slots.tryAcquire()).toBeTypeOf("function");
  expect([admitted, slots.getUsed()]).toEqual([[6], 7]);
});

test("work that waits for 5 s is rejected with 503", async () => {
  const { rejected, onShed } = acquireAll([10, 1]);
  await waitTurns();
  vi.advanceTimersByTime(4999);
  await waitTurns();
  expect(rejected).toEqual([]);
  vi.advanceTimersByTime(1);
  await waitTurns();
  expect(rejected).toEqual([OVERLOADED]);
  expect(onShed).toHaveBeenCalledOnce();
});

test("if too much work waits, more is rejected at once", async () => {
  const { rejected, onShed } = acquireAll([10, 1, 1, 1]);
  await waitTurns();
  expect([rejected, onShed.mock.calls.length]).toEqual([[OVERLOADED], 1]);
});

test("preferred work is admitted first, and other work is shed for it", async () => {
  const isArrived = { req: { complete: true }, once() {}, off() {} } as unknown as ServerResponse;
  const onShed = vi.fn<() => void>();
  const isPreferred = (res?: EventEmitter) => res === isArrived;
  const slots = createSlotQueue({ limit: 1, maxWaiting: 2, turns, isPreferred, onShed });
  const admitted: string[] = [];
  const acquire = (name: string, res?: ServerResponse) =>
    slots.acquire({ weight: 1 }, res).then(
      (release) => admitted.push(name) && release,
      () => admitted.push(`shed: ${name}`),
    );
  const running = acquire("first");
  await waitTurns();
  for (const [name, res] of [["slow"], ["slower"], ["arrived", isArrived]] as const) acquire(name, res);
  ((await running) as () => void)();
  await waitTurns();
  expect(admitted).toEqual(["first", "shed: slow", "arrived"]);
});

test("a request leaves the queue when its client disconnects", async () => {
  const response = new EventEmitter() as ServerResponse;
  const { slots, rejected, onShed } = acquireAll([10, 1], [new EventEmitter() as ServerResponse, response]);
  await waitTurns();
  response.emit("close");
  await waitTurns();
  expect([slots.findBlocked(), rejected.length, onShed.mock.calls.length]).toEqual([undefined, 1, 0]);
});

test("once work that is too heavy has left the queue, lighter work behind it is admitted", async () => {
  const response = new EventEmitter() as ServerResponse;
  const { admitted } = acquireAll([5, 9, 1], [new EventEmitter() as ServerResponse, response]);
  await waitTurns();
  expect(admitted).toEqual([5]);
  response.emit("close");
  await waitTurns();
  expect(admitted).toEqual([5, 1]);
});

/** Lets work of routes wait, named by the route; upper case may use the reserve. Returns those admitted, in order. */
async function admit(routes: string, options: Partial<Parameters<typeof createSlotQueue>[0]>) {
  const slots = createSlotQueue({ limit: 16, turns, onShed() {}, ...options });
  const admitted: string[] = [];
  const shed: string[] = [];
  for (const route of routes) {
    const isReserved = route === route.toUpperCase();
    slots.acquire({ weight: 1, route, isReserved }).then(
      () => admitted.push(route),
      () => shed.push(route),
    );
    await waitTurns();
  }
  return { slots, admitted: admitted.join(""), shed: shed.join("") };
}

test.each([
  ["one route gets three quarters, and the next routes what is left", "aaaaaaaaaaaaaaaaaabcd", "aaaaaaaaaaaabcd"],
  ["two routes leave a part for a third", "aaaaaaaaaaaaaaaabbbbbbbbc", "aaaaaaaaaaaabbbc"],
  ["many routes share all of it", "abcdefghijklmnopqrst", "abcdefghijklmnop"],
])("if nothing is released, %s", async (_label, routes, expected) => {
  expect((await admit(routes, {})).admitted).toBe(expected);
});

test.each([
  ["two routes leave a part for a third", "aaaaaaaaaaaabbbbbbbc", "aaaaaaaaaabbbc"],
  ["two routes leave a part for a third, beside reserved work", "ABCaaaaaaaaaaaabbbbbbbc", "ABCaaaaaaaaabbbc"],
])("with a reserve, %s", async (_label, routes, expected) => {
  expect((await admit(routes, { reserve: 1 / 8 })).admitted).toBe(expected);
});

test("the reserve is for reserved work, of several routes", async () => {
  const { admitted } = await admit("abcdefghijklmnopqABC", { reserve: 1 / 8 });
  expect(admitted).toBe("abcdefghijklmnAB");
});

test("a limit of 1 admits any work, one after the other", async () => {
  expect((await admit("aA", { limit: 1, reserve: 1 / 8 })).admitted).toBe("a");
});

test("if too much work of a route that holds its share waits, it is shed for other routes", async () => {
  const { admitted, shed } = await admit("aaaaaaaab", { limit: 4, maxWaiting: 3 });
  expect([admitted, shed]).toEqual(["aaab", "aaa"]);
});

test.each([
  ["only a route that holds its share", "aaaaa", { route: "a" }],
  ["all routes, if nothing is free", "aaabb", { route: undefined }],
  ["nobody, if nothing waits", "aaab", undefined],
])("the slow clients of %s are in the way (%s)", async (_label, routes, expected) => {
  const { slots } = await admit(routes, { limit: 4 });
  expect(slots.findBlocked()).toEqual(expected);
});
