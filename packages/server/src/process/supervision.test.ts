import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { measureReadiness } from "./process-metrics.ts";
import { superviseServices } from "./supervision.ts";

const resolves = () => Promise.resolve();
const rejects = () => Promise.reject(new Error("no connection"));
const throws = () => {
  throw new Error("no connection");
};
const hangs = () => new Promise(() => {});

/** Supervises services with only these functions, and collects the log lines. */
function supervise(checkReadiness: () => unknown, close: () => Promise<unknown> = resolves) {
  const lines: unknown[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const log = pino({ formatters }, { write: (line) => lines.push(JSON.parse(line)) });
  const services = { checkReadiness: () => checkReadiness(), close };
  return { services, lines, supervised: superviseServices(services, log) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs the next check. */
const next = () => vi.advanceTimersByTimeAsync(3000);

test.each([
  { what: "rejects", check: rejects, message: "no connection" },
  { what: "throws", check: throws, message: "no connection" },
  { what: "never ends", check: hangs, message: "no result within 1000 ms" },
])(
  "services aren't ready after two checks in a row that $what, and each change is logged once",
  async ({ check, message }) => {
    const { services, lines, supervised } = supervise(resolves);
    await supervised.start();
    const failures = [];
    for (const now of [check, resolves, check, check, check, resolves, resolves]) {
      services.checkReadiness = now;
      await next();
      failures.push(supervised.getFailure());
    }
    expect(failures).toEqual([undefined, undefined, undefined, message, message, undefined, undefined]);
    expect(lines).toMatchObject([
      { level: "warn", msg: "services not ready", err: { message } },
      { level: "info", msg: "services ready" },
    ]);
  },
);

test("operators see the last failed check, even if it is a single one, or the services are ready again", async () => {
  const { services, supervised } = supervise(resolves);
  await supervised.start();
  expect(supervised.getLastFailure()).toBeUndefined();
  services.checkReadiness = rejects;
  await next();
  services.checkReadiness = resolves;
  await next();
  expect(supervised.getFailure()).toBeUndefined();
  expect(supervised.getLastFailure()).toEqual({ at: expect.any(Date), reason: "no connection" });
});

test("at startup, the first check counts, and the first success starts the services", async () => {
  const { services, supervised } = supervise(rejects);
  await supervised.start();
  expect([supervised.getFailure(), supervised.hasStarted()]).toEqual(["no connection", false]);
  services.checkReadiness = resolves;
  await next();
  expect([supervised.getFailure(), supervised.hasStarted()]).toEqual([undefined, true]);
});

test("probes and scrapes start no checks, and none runs after the services have closed", async () => {
  let checks = 0;
  const { supervised } = supervise(async () => {
    checks += 1;
  });
  const registry = new Registry();
  const areReady = () => supervised.getFailure() === undefined;
  measureReadiness(registry, () => true, areReady);
  await supervised.start();
  expect(await registry.metrics()).toMatch(/^services_ready 1$/m);
  expect(checks).toBe(1);
  await supervised.close();
  await next();
  expect(checks).toBe(1);
});

test.each([
  { what: "resolves", close: resolves, isClosed: true, messages: [] },
  { what: "rejects", close: rejects, isClosed: false, messages: ["no connection"] },
  { what: "never ends", close: hangs, isClosed: false, messages: ["no result within 2000 ms"] },
])("if the services' close() $what, close() resolves with $isClosed", async ({ close, isClosed, messages }) => {
  const { lines, supervised } = supervise(resolves, close);
  const closed = supervised.close();
  await next();
  expect(await closed).toBe(isClosed);
  expect(lines).toMatchObject(messages.map((message) => ({ level: "error", err: { message } })));
});
