import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from "express";
import { expect, test } from "vitest";
import { createExpress } from "../express.ts";
import { maxBodyBytes } from "../overload/index.ts";
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

const rendered = (app: Express, { admit, compress, render, handleErrors }: Made) =>
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
  [
    "body limits before receive",
    (app, made) => {
      app.use("/webhooks", maxBodyBytes(1_000_000)).use(Router().use("/uploads", maxBodyBytes(1_000_000)));
      rendered(app.use(made.receive, made.files, made.pageCache), made);
    },
  ],
  [
    "express.static in place of files",
    (app, made) => rendered(app.use(made.receive, express.static("public"), made.pageCache), made),
  ],
  [
    "the page cache without files, and another compression",
    (app, made) => app.use(made.receive, made.pageCache, made.admit, pass(), made.render, made.handleErrors),
  ],
  [
    "the reports inside a router",
    (app, made) => {
      app.use(made.receive, Router().post("/browser-reports", made.admit, made.collectReports));
      rendered(app.use(made.files, made.pageCache), made);
    },
  ],
])("createApp may have %s", (_label, add) => {
  const made = createParts();
  const app = createExpress();
  add(app, made);
  expect(() => checkOrder(app, made)).not.toThrow();
});

const RECEIVE_FIRST = "`app.use(receive)` must be the first `app.use(...)`, except for `maxBodyBytes`";
const REPORTS = '`app.post("/browser-reports", collectReports)`';

test.each<[string, Add, string]>([
  [
    "files below a path",
    (app, made) => rendered(app.use(made.receive).use("/static", made.files), made),
    "`files` must be without a path",
  ],
  [
    "the page cache below a path",
    (app, made) => rendered(app.use(made.receive, made.files).use("/shop", made.pageCache), made),
    "`pageCache` must be without a path",
  ],
  ["no receive", (app, made) => rendered(app, made), "`app.use(receive)` is missing"],
  ["files before receive", (app, made) => rendered(app.use(made.files, made.receive), made), RECEIVE_FIRST],
  [
    "the page cache before receive",
    (app, made) => rendered(app.use(made.pageCache, made.receive), made),
    RECEIVE_FIRST,
  ],
  [
    "compression before receive",
    (app, made) => app.use(made.compress, made.receive, made.admit, made.render, made.handleErrors),
    RECEIVE_FIRST,
  ],
  ["a handler before receive", (app, made) => rendered(app.use(pass(), made.receive), made), RECEIVE_FIRST],
  [
    "a handler with a path and admit before receive",
    (app, made) => rendered(app.use("/api", made.admit, pass()).use(made.receive), made),
    RECEIVE_FIRST,
  ],
  [
    "a route before receive",
    (app, made) => rendered(app.get("/health", pass()).use(made.receive), made),
    RECEIVE_FIRST,
  ],
  [
    "a router before receive",
    (app, made) => rendered(app.use(Router().use(pass()), made.receive), made),
    RECEIVE_FIRST,
  ],
  [
    "a handler before receive, inside a router",
    (app, made) => rendered(app.use(Router().use(pass(), made.receive)), made),
    RECEIVE_FIRST,
  ],
  [
    "the reports before receive",
    (app, made) => rendered(app.post("/browser-reports", made.collectReports).use(made.receive), made),
    RECEIVE_FIRST,
  ],
  [
    "the reports behind files, which reject POST",
    (app, made) => rendered(app.use(made.receive, made.files).post("/browser-reports", made.collectReports), made),
    `\`files\` needs ${REPORTS} before it`,
  ],
  [
    "the reports behind the pages",
    (app, made) => rendered(app.use(made.receive), made).post("/browser-reports", made.collectReports),
    `\`createRequestHandler\` needs ${REPORTS} before it`,
  ],
  [
    "the reports at another path",
    (app, made) => rendered(app.use(made.receive).post("/reports", made.collectReports), made),
    `pages send their reports to ${REPORTS}`,
  ],
  [
    "the reports for another method",
    (app, made) => rendered(app.use(made.receive).get("/browser-reports", made.collectReports), made),
    `pages send their reports to ${REPORTS}`,
  ],
  [
    "the reports below another path",
    (app, made) =>
      rendered(
        app.use(made.receive, Router().use("/api", Router().post("/browser-reports", made.collectReports))),
        made,
      ),
    `pages send their reports to ${REPORTS}`,
  ],
  [
    "compression before files",
    (app, made) => app.use(made.receive, made.compress, made.files, made.admit, made.render, made.handleErrors),
    "`compress` needs `app.use(files)` before it",
  ],
  [
    "the reports twice",
    (app, made) => {
      app.use(made.receive).post("/browser-reports", made.collectReports);
      rendered(app.use("/browser-reports", made.collectReports), made);
    },
    `${REPORTS} is there twice`,
  ],
  [
    "the page cache before files",
    (app, made) => rendered(app.use(made.receive, made.pageCache, made.files), made),
    "`pageCache` needs `app.use(files)` before it",
  ],
  [
    "the page cache behind the pages",
    (app, made) => app.use(made.receive, made.admit, made.render, made.pageCache, made.handleErrors),
    "`admit` needs `app.use(pageCache)` before it",
  ],
  [
    "the page cache behind admit",
    (app, made) => app.use(made.receive, made.admit, made.pageCache, made.render, made.handleErrors),
    "`admit` needs `app.use(pageCache)` before it",
  ],
  [
    "files behind admit",
    (app, made) => app.use(made.receive, made.admit, made.files, made.render, made.handleErrors),
    "`admit` needs `app.use(files)` before it",
  ],
  [
    "files behind the pages",
    (app, made) => app.use(made.receive, made.admit, made.render, made.files, made.handleErrors),
    "`admit` needs `app.use(files)` before it",
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

test("createApp without a result fails the start", () => {
  expect(() => checkOrder(undefined as never, createParts())).toThrow("server.ts: createApp must return `app`");
});
