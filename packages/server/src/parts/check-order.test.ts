import { type ErrorRequestHandler, type Express, type RequestHandler, Router } from "express";
import { expect, test } from "vitest";
import { createExpress } from "../express.ts";
import { checkOrder } from "./check-order.ts";
import { createRequestHandler } from "./render/request-handler.ts";

const pass = (): RequestHandler => (_req, _res, next) => next();
const handleErrors: ErrorRequestHandler = (_error, _req, _res, next) => next();

/** The parts, and what the application of the project makes of them. */
function createParts() {
  const render = createRequestHandler({ build: {} as never, getLoadContext: () => expect.unreachable() });
  const parts = {
    receive: pass(),
    collectReports: [pass(), pass()],
    files: pass(),
    pageCache: pass(),
    admit: [pass(), pass()],
    compress: pass(),
    handleErrors,
  };
  return { ...parts, render };
}

type Made = ReturnType<typeof createParts>;
type Add = (app: Express, parts: Made) => unknown;

const rendered: Add = (app, { admit, compress, render, handleErrors }) =>
  app.use(admit, compress, render, handleErrors);

test.each<[string, Add]>([
  [
    "every part in order",
    (app, made) => {
      app.use(made.receive).post("/browser-reports", made.collectReports);
      rendered(app.use(made.files, made.pageCache), made);
    },
  ],
  [
    "no files, page cache, reports and compression",
    (app, made) => app.use(made.receive, made.admit, made.render, made.handleErrors),
  ],
  [
    "a handler with a path that is admitted in front",
    (app, made) => {
      app.use(made.receive).use("/api", made.admit, Router().use(made.compress), pass());
      rendered(app.use(made.files), made);
    },
  ],
  [
    "parts inside a router",
    (app, made) => {
      const router = Router().use(made.receive, made.files, made.admit, made.render, made.handleErrors);
      app.use(router);
    },
  ],
])("createApp may have %s", (_label, add) => {
  const made = createParts();
  const app = createExpress();
  add(app, made);
  expect(() => checkOrder(app, made)).not.toThrow();
});

test.each<[string, Add, string]>([
  ["no receive", (app, made) => rendered(app, made), "`app.use(receive)` is missing"],
  [
    "files before receive",
    (app, made) => rendered(app.use(made.files, made.receive), made),
    "`files` needs `app.use(receive)` before it",
  ],
  [
    "the page cache before receive",
    (app, made) => rendered(app.use(made.pageCache, made.receive), made),
    "`pageCache` needs `app.use(receive)` before it",
  ],
  [
    "the page cache before files",
    (app, made) => rendered(app.use(made.receive, made.pageCache, made.files), made),
    "`pageCache` needs `app.use(files)` before it",
  ],
  [
    "the page cache behind the pages",
    (app, made) => app.use(made.receive, made.admit, made.render, made.pageCache, made.handleErrors),
    "`createRequestHandler` needs `app.use(pageCache)` before it",
  ],
  [
    "compression behind the pages",
    (app, made) => app.use(made.receive, made.admit, made.render, made.compress, made.handleErrors),
    "`createRequestHandler` needs `app.use(compress)` before it",
  ],
  [
    "receive twice",
    (app, made) => rendered(app.use(made.receive, made.receive), made),
    "`app.use(receive)` is there twice",
  ],
  ["no admit", (app, made) => app.use(made.receive, made.render, made.handleErrors), "`app.use(admit)` is missing"],
  [
    "admit behind the pages",
    (app, made) => app.use(made.receive, made.render, made.admit, made.handleErrors),
    "`createRequestHandler` needs `app.use(admit)` before it",
  ],
  [
    "admit for one path only",
    (app, made) => app.use(made.receive).use("/api", made.admit).use(made.render, made.handleErrors),
    "`app.use(admit)` is missing",
  ],
  [
    "no pages",
    (app, made) => app.use(made.receive, made.admit, made.handleErrors),
    "`app.use(createRequestHandler({ build, getLoadContext }))` is missing",
  ],
  [
    "no error handler",
    (app, made) => app.use(made.receive, made.admit, made.render),
    "`app.use(handleErrors)` is missing",
  ],
  [
    "the error handler before the pages",
    (app, made) => app.use(made.receive, made.admit, made.handleErrors, made.render),
    "`handleErrors` needs `app.use(createRequestHandler({ build, getLoadContext }))` before it",
  ],
])("the start fails if createApp has %s, and names the line", (_label, add, message) => {
  const made = createParts();
  const app = createExpress();
  add(app, made);
  expect(() => checkOrder(app, made)).toThrow(`server.ts: ${message}`);
});
