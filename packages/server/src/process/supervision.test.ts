import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { measureReadiness } from "./process-metrics.ts";
import { superviseServices } from "./supervision.ts";

const resolves = () => Promise.resolve();
const rejects = () => Promise.reject(new Error("no connection"));
const throws = () => {
  throw new Error("no connection");
};
const hangs = () => new Promise(() => {});

/** Supervises services with only these functions, and collects the log lines. */
function supervise(checkReadiness: () => Promise<unknown>, close: () => Promise<unknown> = resolves) {
  const lines: unknown[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const log = pino({ formatters }, { write: (line) => lines.push(JSON.parse(line)) });
  const services = { checkReadiness: () => checkReadiness(), close };
  return { services, lines, supervised: superviseServices(services, log) };
}

test.each([
  { what: "rejects", check: rejects, message: "no connection" },
  { what: "throws", check: throws, message: "no connection" },
  { what: "never ends", check: hangs, message: "no result within 1000 ms" },
])("services are not ready while their check $what, and each change is logged once", async ({ check, message }) => {
  const { services, lines, supervised } = supervise(resolves);
  const states = [];
  for (const now of [resolves, check, check, resolves, resolves]) {
    services.checkReadiness = now;
    states.push(await supervised.isReady());
  }
  expect(states).toEqual([true, false, false, true, true]);
  expect(lines).toMatchObject([
    { level: "warn", msg: "services not ready", err: { message } },
    { level: "info", msg: "services ready" },
  ]);
});

test("concurrent probes share a check", async () => {
  let checks = 0;
  const { supervised } = supervise(async () => {
    checks += 1;
  });
  await Promise.all([supervised.isReady(), supervised.isReady()]);
  expect(checks).toBe(1);
  await supervised.isReady();
  expect(checks).toBe(2);
});

test("a scrape of the metrics doesn't wait for a check, but starts one, whose result a later scrape gets", async () => {
  let checks = 0;
  const { supervised } = supervise(() => {
    checks += 1;
    return hangs();
  });
  const registry = new Registry();
  measureReadiness(registry, supervised.getLastResult);
  const scrape = async () => /^app_ready .*$/m.exec(await registry.metrics())?.[0];
  expect([await scrape(), checks]).toEqual(["app_ready 1", 1]);
  await supervised.isReady(); // The same check.
  expect([await scrape(), checks]).toEqual(["app_ready 0", 2]);
});

test.each([
  { what: "resolves", close: resolves, isClosed: true, messages: [] },
  { what: "rejects", close: rejects, isClosed: false, messages: ["no connection"] },
  { what: "never ends", close: hangs, isClosed: false, messages: ["no result within 2000 ms"] },
])("if the services' close() $what, close() resolves with $isClosed", async ({ close, isClosed, messages }) => {
  const { lines, supervised } = supervise(resolves, close);
  expect(await supervised.close()).toBe(isClosed);
  expect(lines).toMatchObject(messages.map((message) => ({ level: "error", err: { message } })));
});
