import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { loadApp, startServer } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, onTestFinished } from "vitest";
import { createTracker, handleError, trackerContext } from "../app/error-tracker.server.ts";
import { expect, open, test } from "./support/fixtures.ts";

type Event = {
  platform: string;
  request: { url: string };
  exception: { values: { type: string; value: string; stacktrace: { frames: object[] } }[] };
};

/** The tracker keeps what it gets. */
const received: { path: string | undefined; key: string; event: Event }[] = [];
const service = createServer(async (req, res) => {
  const [, , event = "{}"] = (await text(req)).split("\n");
  received.push({ path: req.url, key: String(req.headers["x-sentry-auth"]), event: JSON.parse(event) });
  res.end("{}");
}).listen(0, "127.0.0.1");
await once(service, "listening");
afterAll(() => void service.close());
const TRACKER_DSN = `http://abc123@127.0.0.1:${(service.address() as AddressInfo).port}/7`;

const LOG = { warn: () => {} };
const find = (message: string) =>
  received.filter(({ event }) => event.exception.values.some(({ value }) => value === message));

test("an error of a script gets to the tracker, without the query of its page", async ({ page, consoleMessages }) => {
  const server = await startServer({ TRACKER_DSN });
  onTestFinished(async () => void (await server.stop()));
  await open(page, `${server.url}/?token=secret`);
  await page.evaluate(() => void setTimeout(() => Promise.reject(new TypeError("broken script"))));
  await expect.poll(() => find("broken script")).toHaveLength(1);
  const { path, key, event } = find("broken script")[0] ?? {};
  expect([path, key]).toEqual(["/api/7/envelope/", expect.stringContaining("sentry_key=abc123")]);
  expect(event).toMatchObject({ platform: "javascript", request: { url: `${server.url}/` } });
  expect(event?.exception.values[0]).toMatchObject({ type: "TypeError", stacktrace: { frames: expect.any(Array) } });
  consoleMessages.splice(0);
});

test("an error of a handler gets to the tracker, with its cause, and an error of a client doesn't", async () => {
  const fail = Object.assign(new Error("gone"), { status: 410, expose: true });
  const broken = new Error("broken handler", { cause: new Error("no database") });
  const { app } = await loadApp({
    env: { TRACKER_DSN },
    parts: {
      pageCache: ({ path }, _res, next) => next(path === "/gone" ? fail : path === "/broken" ? broken : undefined),
    },
  });
  expect((await request(app).get("/gone")).status).toBe(410);
  expect((await request(app).get("/broken?token=secret")).status).toBe(500);
  await expect.poll(() => find("broken handler")).toHaveLength(1);
  const [{ event } = expect.unreachable()] = find("broken handler");
  expect(event.exception.values.map(({ value }) => value)).toEqual(["no database", "broken handler"]);
  expect(event.exception.values[1]?.stacktrace.frames.at(-1)).toMatchObject({
    filename: expect.stringContaining("error-tracker.test"),
    lineno: expect.any(Number),
  });
  expect(event.request.url).toBe("/broken");
  expect(find("gone")).toEqual([]);
});

test("an error of a loader gets to the tracker", async () => {
  const tracker = createTracker({ TRACKER_DSN }, LOG);
  const logged: unknown[] = [];
  const others = { onError: (error: unknown) => logged.push(error) };
  const context = { get: (key: unknown) => (key === trackerContext ? tracker : others) };
  const error = new Error("broken loader");
  handleError(error, { request: new Request("http://localhost/books?q=a"), context: context as never });
  await tracker.close();
  expect(find("broken loader")).toMatchObject([{ event: { platform: "node", request: { url: "/books" } } }]);
  expect(logged).toEqual([error]);
});

test("an error that repeats is sent 60 times a minute at most", async () => {
  const tracker = createTracker({ TRACKER_DSN }, LOG);
  for (let count = 0; count < 200; count++) tracker.capture(new Error("again"));
  await tracker.close();
  // The minute may change in between.
  expect(find("again").length).toBeLessThanOrEqual(120);
});

test.for([
  ["without the setting", undefined, 0],
  ["with a tracker that can't be reached", "http://abc123@127.0.0.1:1/7", 1],
] as const)("%s, errors are not sent", async ([, dsn, warnings]) => {
  const warned: string[] = [];
  const tracker = createTracker({ TRACKER_DSN: dsn }, { warn: (_fields, message) => warned.push(message) });
  tracker.capture("text");
  await tracker.close();
  expect(warned).toHaveLength(warnings);
});

test("a DSN without a project fails the start", async () => {
  await expect(loadApp({ env: { TRACKER_DSN: "https://sentry.io" } })).rejects.toThrow("TRACKER_DSN");
});
