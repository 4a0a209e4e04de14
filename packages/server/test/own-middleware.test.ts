// Middleware and handlers of test/site/, behind `admit` and without it.
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const PATH = "/example-pages/vote";

test("a rate limit counts a form's requests by client, with scripts and without", async () => {
  const { url, stop } = await startServer({ TRUST_PROXY: "loopback" }, SITE);
  const send = (client: string, path: string, init: RequestInit) =>
    fetch(url + path, { ...init, headers: { "X-Forwarded-For": client } });
  const vote = (client: string, path = PATH) =>
    send(client, path, { method: "POST", body: new URLSearchParams({ vote: "yes" }) });

  const responses = [await vote("192.0.2.1"), await vote("192.0.2.1", `${PATH}.data`), await vote("192.0.2.1")];
  const limited = await vote("192.0.2.1", `${PATH}.data`);
  expect([...responses, limited].map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(Number(limited.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect(limited.headers.get("X-Content-Type-Options")).toBe("nosniff");

  expect((await send("192.0.2.1", PATH, { method: "GET" })).status).toBe(200);
  expect((await vote("192.0.2.2")).status).toBe(200);
  expect(await stop()).toBe(0);
});

test("at startup, a warning names each path in front whose handler has no load shedding", async () => {
  const { lines } = await loadApp({ folder: SITE, parts: { admit: (_req, _res, next) => next() } });
  const warnings = lines.filter(({ msg }) => msg.startsWith("a handler in front has no load shedding"));
  expect(warnings.map(({ path }) => path)).toEqual([
    "/front/cookie-in-head",
    "/front/old/*splat",
    "/front/api",
    "/front/tenants/:tenant",
    "/front/webhook,/front/large-webhook",
    "/front/open",
    "/front/wait/:milliseconds",
    "/front/ticks",
    "/front/files",
    "/front/auth/*splat",
    "/front/trpc",
    "/front/proxy",
  ]);
});

test("a site whose handlers are behind admit starts without a warning", async () => {
  const { lines } = await loadApp({ folder: SITE });
  expect(lines).toEqual([]);
});

test.each([
  ["in front of files", "changed-url"],
  ["before rendering", "late-url"],
])("if middleware %s changes the URL, the log warns once", async (_label, front) => {
  const { app, lines } = await loadApp({ folder: SITE, env: { FRONT: front } });
  for (const path of ["/example-pages/notes/1", "/de/robots.txt", "/"]) await request(app).get(path);
  expect(lines.filter(({ msg }) => msg !== "request")).toEqual([
    expect.objectContaining({
      level: 40,
      msg: expect.stringContaining("change of req.url ignored"),
      "http.route": "/example-pages/notes/:id",
    }),
  ]);
});
