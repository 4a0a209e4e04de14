import express, { type Express, type RequestHandler } from "express";
import { expect, test } from "vitest";
import { acceptsCrossOrigin } from "./check-origin.ts";
import { findUnadmitted } from "./find-unadmitted.ts";

const create = (): RequestHandler => (_req, _res, next) => next();
const [receive, files, admit, handler] = [create(), create(), create(), create()];
const collectReports = [create(), create()];

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
  ["a router that begins with admit", (app) => app.use("/a", createRouter(admit)), []],
  ["a router without a path", (app) => app.use(createRouter()), ["/items/:id"]],
  ["a router in a router", (app) => app.use(express.Router().use("/a", createRouter())), ["/a"]],
  ["admit for an outer path", (app) => app.use("/a", admit).use("/a/b", handler).use("/ab", handler), ["/ab"]],
  ["admit behind a handler", (app) => app.use("/a", handler).use("/a", admit), ["/a"]],
  ["admit for every path", (app) => app.use(admit).use("/a", handler), []],
  ["an application", (app) => app.use("/a", express()), ["/a"]],
  ["a route of the server", (app) => app.post("/reports", collectReports), []],
  ["a route whose admit is behind", (app) => app.get("/a", handler, admit), ["/a"]],
  ["a route whose admit is in the middle", (app) => app.get("/a", handler, admit, handler), ["/a"]],
  ["a route with a method without admit", (app) => app.route("/a").get(admit, handler).post(handler), ["/a"]],
  ["a route with admit for each method", (app) => app.route("/a").get(admit, handler).post(admit, handler), []],
  ["a route with admit for all methods", (app) => app.route("/a").all(admit).get(handler).post(handler), []],
  ["a route for all methods with admit for one", (app) => app.route("/a").get(admit).all(handler), ["/a"]],
  ["two routes of one path", (app) => app.get("/a", admit).get("/a", handler), []],
  ["a route below a route with admit", (app) => app.get("/a", admit).get("/a/b", handler), ["/a/b"]],
  ["a router whose admit is behind", (app) => app.use("/a", express.Router().use(handler).use(admit)), ["/a"]],
  [
    "a router that has admit for some routes",
    (app) => app.use("/a", express.Router().get("/b", admit, handler).get("/c", handler)),
    ["/a/c"],
  ],
  [
    "a router with routes alone",
    (app) => app.use("/a", express.Router().get("/b", handler).get("/c", handler)),
    ["/a"],
  ],
  ["a handler for all sites", (app) => app.use("/a", acceptsCrossOrigin, admit, handler), []],
  ["a route for all sites", (app) => app.post("/a", acceptsCrossOrigin, admit, handler), []],
  ["a handler between files and admit", (app) => app.use(files).use("/a", handler), ["/a"]],
])("of %s, the paths without load shedding are found", (_label, mount, paths) => {
  const app = express();
  app.use("/before", handler);
  app.use(receive);
  mount(app);
  app.use(files, admit);
  app.use("/behind", handler);
  expect(findUnadmitted(app, { receive, admit, collectReports })).toEqual(paths);
});

test("in a router that has the parts, the paths without load shedding are found", () => {
  const router = express.Router().use(receive).use("/a", handler).use("/b", admit, handler).use(files);
  const app = express().use(router, admit);
  expect(findUnadmitted(app, { receive, admit, collectReports })).toEqual(["/a"]);
});

test("in an application without the server's parts, none is found", () => {
  const app = express().use("/a", handler);
  expect(findUnadmitted(app, { receive, admit, collectReports })).toEqual([]);
});
