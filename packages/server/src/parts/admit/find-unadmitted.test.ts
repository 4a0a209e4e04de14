import express, { type Express, type RequestHandler } from "express";
import { expect, test } from "vitest";
import { findUnadmitted } from "./find-unadmitted.ts";

const create = (): RequestHandler => (_req, _res, next) => next();
const [receive, files, admission, reports, handler] = [create(), create(), create(), create(), create()];
const admit = [admission, create()];

/** A router whose middleware and routes are like those of an API. */
function createRouter(...before: RequestHandler[]) {
  const router = express.Router();
  for (const middleware of before) router.use(middleware);
  router.use(handler);
  router.get("/items/:id", handler);
  return router;
}

test.each<[string, (app: Express) => unknown, string[]]>([
  ["a handler without a path", (app) => app.use(handler), []],
  ["a handler", (app) => app.use("/a", handler), ["/a"]],
  ["a handler behind admit", (app) => app.use("/a", admit, handler), []],
  ["two handlers of one path", (app) => app.use("/a", handler, handler), ["/a"]],
  ["a route", (app) => app.get("/a/:id", handler), ["/a/:id"]],
  ["a route behind admit", (app) => app.get("/a/:id", admit, handler), []],
  ["a handler with two paths", (app) => app.post(["/a", "/b"], handler), ["/a,/b"]],
  ["a handler with an expression", (app) => app.use(/^\/a/, handler), ["/^\\/a/"]],
  ["a router", (app) => app.use("/a", createRouter()), ["/a"]],
  ["a router behind admit", (app) => app.use("/a", admit, createRouter()), []],
  ["a router that begins with admit", (app) => app.use("/a", createRouter(...admit)), []],
  ["a router without a path", (app) => app.use(createRouter()), ["/items/:id"]],
  ["a router in a router", (app) => app.use(express.Router().use("/a", createRouter())), ["/a"]],
  ["admit for an outer path", (app) => app.use("/a", admit).use("/a/b", handler).use("/ab", handler), ["/ab"]],
  ["admit behind a handler", (app) => app.use("/a", handler).use("/a", admit), ["/a"]],
  ["admit for every path", (app) => app.use(admit).use("/a", handler), []],
  ["an application", (app) => app.use("/a", express()), ["/a"]],
  ["a route of the server", (app) => app.post("/reports", reports), []],
])("of %s, the paths without load shedding are found", (_label, mount, paths) => {
  const app = express();
  app.use("/before", handler);
  app.use(receive);
  mount(app);
  app.use(files, admit);
  app.use("/behind", handler);
  expect(findUnadmitted(app, { receive, files, admitted: [admission, reports] })).toEqual(paths);
});

test("in an application without the server's parts, none is found", () => {
  const app = express().use("/a", handler);
  expect(findUnadmitted(app, { receive, files, admitted: [admission] })).toEqual([]);
});
