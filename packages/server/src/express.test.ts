import { once } from "node:events";
import { createServer, IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { createExpress, messageClasses } from "./express.ts";

/** Listens with the application's classes, as the server does. Resolves with the URL. */
async function listen(app: Express) {
  const server = createServer(messageClasses(app), app as RequestListener).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("requests and responses keep the prototypes that the server makes them with", async () => {
  const app = createExpress().get("/", (req, res) => void res.json({ path: req.path, query: req.query }));
  const url = await listen(app);
  const changed: unknown[] = [];
  const { setPrototypeOf } = Object;
  const spy = vi.spyOn(Object, "setPrototypeOf").mockImplementation((target, prototype) => {
    const isMessage = target instanceof IncomingMessage || target instanceof ServerResponse;
    if (isMessage && Object.getPrototypeOf(target) !== prototype) changed.push(target);
    return setPrototypeOf(target, prototype);
  });
  onTestFinished(() => spy.mockRestore());
  expect(await (await fetch(`${url}/?a=b`)).json()).toEqual({ path: "/", query: { a: "b" } });
  expect(spy).toHaveBeenCalled();
  expect(changed).toEqual([]);
});

test("a response may have the listeners of the server and those of a pipeline", async () => {
  const url = await listen(createExpress().get("/", (_req, res) => void res.json(res.getMaxListeners())));
  expect(await (await fetch(url)).json()).toBe(20);
});

test.each([
  ["express()", express],
  ["createExpress()", createExpress],
])("a mounted %s gets prototypes and settings of its own, and gives them back", async (_label, create) => {
  const inner = create().set("json spaces", 2).set("name", "inner");
  inner.get("/ends", ({ app, baseUrl }, res) => void res.json({ name: app.get("name"), baseUrl }));
  inner.use((req, res, next) => {
    res.locals.seen = [Object.getPrototypeOf(req) === inner.request, Object.getPrototypeOf(res) === inner.response];
    next();
  });
  const app = createExpress().set("name", "outer");
  app.use("/inner", inner);
  app.use((req, res) => {
    const own = [Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response];
    res.json({ name: req.app.get("name"), seen: res.locals.seen, own });
  });
  const url = await listen(app);
  expect(await (await fetch(`${url}/inner/ends`)).text()).toBe(
    JSON.stringify({ name: "inner", baseUrl: "/inner" }, null, 2),
  );
  expect(await (await fetch(`${url}/inner/passes`)).json()).toEqual({
    name: "outer",
    seen: [true, true],
    own: [true, true],
  });
});
