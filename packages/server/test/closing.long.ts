// What stays in the process after a response, and after an application has closed: development and tests create many.
import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { RouterContextProvider } from "react-router";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { createExpress } from "../src/express.ts";
import { createGetLoadContext } from "../src/parts/render/load-context.ts";
import { SITE } from "./support/site.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const PATHS = ["/", "/nowhere", "/robots.txt", "/front/api/throws", "/front/webhook", "/example-pages/notes/1"];
/** The window of test/site's rate limit, whose interval has no end. */
const WINDOW_MS = 60_000;

const intervals: { _repeat?: number; _destroyed?: boolean }[] = [];
const { setInterval } = globalThis;
vi.stubGlobal("setInterval", (...args: Parameters<typeof setInterval>) => {
  const timer = setInterval(...args);
  intervals.push(timer as object);
  return timer;
});

/** Creates an application, sends it requests, and closes it. */
async function openAndClose() {
  const { app, close } = await loadApp({ folder: SITE });
  for (const path of PATHS) await request(app).get(path);
  await request(app).post("/front/webhook").send("a");
  await close();
  return new WeakRef(app);
}

async function measure() {
  for (let turn = 0; turn < 3; turn += 1) {
    await setImmediate();
    collectGarbage();
  }
  return {
    heap: process.memoryUsage().heapUsed,
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    resources: process.getActiveResourcesInfo().toSorted(),
  };
}

test("50 applications that have closed leave no timer, no listener and no memory", async () => {
  for (let count = 0; count < 5; count += 1) await openAndClose();
  const before = await measure();
  const apps: WeakRef<object>[] = [];
  for (let count = 0; count < 45; count += 1) apps.push(await openAndClose());
  const after = await measure();
  expect(after).toEqual({ ...before, heap: expect.any(Number) });
  expect(after.heap / before.heap).toBeLessThan(1.1);
  expect(apps.filter((app) => app.deref())).toEqual([]);
  expect(intervals.length).toBeGreaterThanOrEqual(100);
  expect(intervals.filter(({ _repeat, _destroyed }) => !_destroyed && _repeat !== WINDOW_MS)).toEqual([]);
});

test("a request listens to the shutdown until its response has ended", async () => {
  const { signal: shutdown } = new AbortController();
  const createContext = () => new RouterContextProvider();
  const getLoadContext = createGetLoadContext({
    createContext,
    checkUrl: () => {},
    shutdown,
    log: pino({ level: "silent" }),
  });
  const counts: number[] = [];
  const app = createExpress().use((req, res) => {
    getLoadContext(req, res);
    counts.push(getEventListeners(shutdown, "abort").length);
    res.end();
  });
  for (let count = 0; count < 3; count += 1) await request(app).get("/");
  expect(counts).toEqual([1, 1, 1]);
  await expect.poll(() => getEventListeners(shutdown, "abort")).toEqual([]);
});
