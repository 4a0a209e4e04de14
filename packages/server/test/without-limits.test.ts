// An application that has none of the server's parts but createRequestHandler and handleErrors.
import type { RequestHandler } from "express";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";
import { SITE } from "./support/site.ts";

const pass: RequestHandler = (_req, _res, next) => next();
const parts = {
  receive: pass,
  collectReports: [pass],
  files: pass,
  pageCache: pass,
  admit: pass,
  compress: pass,
};
const { app, lines } = await loadApp({ folder: SITE, parts });

test.each([
  ["get", "/", {}, 200, "text/html; charset=utf-8"],
  ["head", "/", {}, 200, "text/html; charset=utf-8"],
  ["get", "/nowhere", {}, 404, "text/html; charset=utf-8"],
  ["get", "/example-pages/notes/1.data", {}, 200, "text/x-script; charset=utf-8"],
  ["get", "/example-pages/temperature", {}, 200, "application/json; charset=utf-8"],
  ["post", "/example-pages/echo", { "Content-Type": "application/x-www-form-urlencoded" }, 200, expect.any(String)],
  ["post", "/", {}, 405, "text/html; charset=utf-8"],
  ["get", "/", { Host: "a b" }, 400, "text/plain; charset=utf-8"],
  ["get", "/front/api/throws", {}, 500, "text/plain; charset=utf-8"],
] as const)("%s %s %j has status %i and type %s", async (method, path, headers, status, type) => {
  const sent = request(app)[method](path).set(headers);
  const response = await (method === "post" ? sent.send("a=b") : sent);
  expect([response.status, response.headers["content-type"]]).toEqual([status, type]);
});

test("an error of a page is logged", async () => {
  expect((await request(app).get("/example-pages/broken/loader")).status).toBe(500);
  expect(lines.map(({ msg }) => msg)).toContain("render failed");
});
