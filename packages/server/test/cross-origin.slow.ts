// Unsafe methods reach an action only from the site's pages, trusted origins and clients that aren't browsers.

import express, { type RequestHandler } from "express";
import { pino } from "pino";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";
import type { RouteEntry } from "../src/locals.ts";
import { acceptsCrossOrigin, sameOrigin, unlessAccepted } from "../src/parts/admit/check-origin.ts";
import { errorHandler } from "../src/parts/errors/handle-errors.ts";
import { SITE } from "./support/site.ts";

const FOLDER = SITE;
const HOST = "example.org";
const BROWSER_AT_HOME = { Origin: `https://${HOST}`, "Sec-Fetch-Site": "same-origin" };

test.each<[string, Record<string, string>, Record<string, string>, boolean]>([
  ["a form of the site's own page", {}, BROWSER_AT_HOME, true],
  ["a request that the visitor made by hand", {}, { "Sec-Fetch-Site": "none" }, true],
  ["a form on another site", {}, { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }, false],
  ["a form on another site that hides its origin", {}, { "Sec-Fetch-Site": "cross-site" }, false],
  ["a form on a sibling host", {}, { Origin: "https://blog.example.org", "Sec-Fetch-Site": "same-site" }, false],
  ["an older browser on the site's own page", {}, { Origin: `https://${HOST}` }, true],
  ["an older browser on another site", {}, { Origin: "https://evil.example" }, false],
  ["an older browser in a sandboxed frame", {}, { Origin: "null" }, false],
  ["an extension whose host is the site's", {}, { Origin: `chrome-extension://${HOST}` }, false],
  ["a local file whose host is the site's", {}, { Origin: `file://${HOST}` }, false],
  ["a client that isn't a browser", {}, {}, true],
  ["a trusted origin", { TRUSTED_ORIGINS: "https://pay.example" }, { Origin: "https://pay.example" }, true],
  [
    "a trusted origin in a new browser",
    { TRUSTED_ORIGINS: "https://pay.example, https://other.example" },
    { Origin: "https://pay.example", "Sec-Fetch-Site": "cross-site" },
    true,
  ],
  ["an older browser behind a proxy that changes Host", {}, { Origin: "https://public.example" }, false],
  ["an older browser, with ORIGIN", { ORIGIN: "https://public.example" }, { Origin: "https://public.example" }, true],
  ["a new browser behind a proxy that changes Host", {}, { ...BROWSER_AT_HOME, Host: "backend:3000" }, true],
])("%s (settings %j, headers %j) may run an action: %j", async (_label, env, headers, isAllowed) => {
  const { app, lines } = await loadApp({ folder: FOLDER, env });
  for (const path of ["/example-pages/sign-up", "/example-pages/sign-up.data", "/example-pages/echo"]) {
    const response = await request(app).post(path).set("Host", HOST).set(headers).type("form").send("email=ada@a.org");
    expect([path, response.status]).toEqual([
      path,
      isAllowed ? ({ "/example-pages/sign-up": 303, "/example-pages/sign-up.data": 202 }[path] ?? 200) : 403,
    ]);
  }
  // Each rejected request logs one line with its Host header. It is a warning, since the server isn't at fault.
  const warnings = lines.filter(({ level }) => level > 30);
  expect(warnings.length).toBe(isAllowed ? 0 : 3);
  for (const warning of warnings) {
    expect(warning.msg).toContain("TRUSTED_ORIGINS");
    expect(warning).toMatchObject({
      "http.request.header.host": [new Headers(headers as HeadersInit).get("Host") ?? HOST],
    });
    expect(JSON.stringify(warning)).not.toContain("undefined");
  }
});

const CALLBACK = "/example-pages/log-in-callback";
const PROVIDER = { Origin: "https://login.example.org", "Sec-Fetch-Site": "cross-site" };
const FORM = { state: "a" };
// The value that `createCookie` makes of "a".
const COOKIE = { Cookie: "__Host-state=ImEi" };

test.each<[string, "post" | "put" | "patch" | "delete" | "options", string, object, object, number]>([
  ["the form of an identity provider", "post", CALLBACK, PROVIDER, FORM, 303],
  ["a form whose page hides its origin", "post", CALLBACK, { ...PROVIDER, Origin: "null" }, FORM, 303],
  ["an older browser", "post", CALLBACK, { Origin: PROVIDER.Origin }, FORM, 303],
  ["another spelling of the path", "post", "/Example-Pages/log-in-callback/", PROVIDER, FORM, 303],
  ["a form that the action rejects", "post", CALLBACK, PROVIDER, { state: "b" }, 400],
  ["a preflight", "options", CALLBACK, { ...PROVIDER, "Access-Control-Request-Method": "PUT" }, {}, 405],
])("with acceptsCrossOrigin for POST, %s (%s %s %j %j) gets %i, without CORS headers", async (_label, ...row) => {
  const [method, path, headers, fields, status] = row;
  const { app, lines } = await loadApp({ folder: FOLDER });
  const sent = request(app)[method](path).type("form");
  const response = await sent.set({ Host: HOST, ...headers, ...COOKIE }).send(fields);
  expect(response.status).toBe(status);
  expect(Object.keys(response.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
});

test.each([
  ["a data request", "post", `${CALLBACK}.data`],
  ["PUT", "put", CALLBACK],
  ["PATCH", "patch", CALLBACK],
  ["DELETE", "delete", CALLBACK],
] as const)("with acceptsCrossOrigin for POST, %s from another origin gets 403", async (_label, method, path) => {
  const { app } = await loadApp({ folder: FOLDER });
  const send = () =>
    request(app)
      [method](path)
      .type("form")
      .set({ Host: HOST, ...COOKIE });
  expect((await send().set(PROVIDER).send(FORM)).status).toBe(403);
  expect((await send().set(BROWSER_AT_HOME).send(FORM)).status).toBe(path === CALLBACK ? 303 : 202);
});

const log = pino({ level: "silent" });
const checkOrigin = sameOrigin({ TRUSTED_ORIGINS: new Set() }, log);

const check = unlessAccepted(checkOrigin);

test.each([
  ["a page", 200, "/", [check], true],
  ["a handler in front behind admit", 403, "/a", [check], true],
  ["a handler in front that adds checkOrigin", 403, "/", [checkOrigin], true],
  ["a handler in front with acceptsCrossOrigin", 200, "/a", [acceptsCrossOrigin, check], false],
  ["a page behind a handler with acceptsCrossOrigin", 403, "/", [acceptsCrossOrigin, check], false],
])("%s responds with %i to a form of another site", async (_label, status, path, middleware, isAcceptedByRoute) => {
  const setRoute: RequestHandler = (_req, { locals }, next) => {
    locals.route = { acceptsCrossOrigin: isAcceptedByRoute ? ["POST"] : ([] as string[]) } as RouteEntry;
    next();
  };
  const respond: RequestHandler = (_req, res) => void res.end();
  const app = express().use(setRoute).use(path, middleware, respond).use(errorHandler(log));
  expect((await request(app).post("/a").set(PROVIDER)).status).toBe(status);
});

test("links of any site may lead to a page", async () => {
  const { app } = await loadApp({ folder: FOLDER });
  const headers = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
  expect((await request(app).get("/example-pages/sign-up").set(headers)).status).toBe(200);
});
