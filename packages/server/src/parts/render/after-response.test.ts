import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Response } from "express";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createAfterResponse } from "./after-response.ts";

function create(isClosed = false) {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line).msg) });
  const registry = new Registry();
  const after = createAfterResponse(registry, log);
  const running = new Set<Promise<unknown>>();
  const req = { method: "GET" };
  const res = Object.assign(new EventEmitter(), { req, closed: isClosed, locals: { running } }) as unknown as Response;
  const readCounts = async () => (await registry.metrics()).match(/(?<=^after_response_tasks_total).*/gm);
  return { ...after, res, running, lines, readCounts };
}

test("work starts once the response has closed, and the slot is held until the work ends", async () => {
  const { afterResponse, res, running, readCounts } = create();
  const events: string[] = [];
  afterResponse(res)(async () => {
    events.push("started");
    await setTimeout(5);
    events.push("ended");
  });
  await setTimeout(5);
  expect([events, running.size]).toEqual([[], 1]);
  res.emit("close");
  await Promise.all(running);
  expect(events).toEqual(["started", "ended"]);
  expect(await readCounts()).toEqual(['{result="done"} 1', '{result="failed"} 0']);
});

test("work that comes after the response has closed starts at once", async () => {
  const { afterResponse, res } = create(true);
  const started = new EventEmitter();
  const isStarted = once(started, "start");
  afterResponse(res)(() => started.emit("start"));
  await isStarted;
});

test.each([
  ["throws", () => JSON.parse("{")],
  ["rejects", () => Promise.reject(new Error("no connection"))],
])("work that %s is logged and counted", async (_label, work) => {
  const { afterResponse, res, running, lines, readCounts } = create(true);
  afterResponse(res)(work);
  await Promise.all(running);
  expect(lines).toEqual(["work after the response failed"]);
  expect(await readCounts()).toEqual(['{result="done"} 0', '{result="failed"} 1']);
});

test("a shutdown waits for work, and leaves work that hangs", async () => {
  const { afterResponse, finishWork, lines } = create();
  let isDone = false;
  afterResponse()(() => setTimeout(20).then(() => (isDone = true)));
  await finishWork();
  expect([isDone, lines]).toEqual([true, []]);
  afterResponse()(() => new Promise(() => {}));
  await finishWork();
  expect(lines).toEqual(["work after responses not done"]);
});
