// The middleware of docs/growing-up.md, in a copy of the project.
import { createHmac } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { build, copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const ENV = { PAYMENTS_SECRET: "key", PREVIEW_PASSWORD: "early" };
const FOLDER = copyProject();
afterAll(() => rmSync(FOLDER, { recursive: true }));

beforeAll(async () => {
  cpSync("test/fixtures/middleware", FOLDER, { recursive: true });
  const routes = readFileSync(`${FOLDER}/app/routes.ts`, "utf8");
  writeFileSync(`${FOLDER}/app/routes.ts`, routes.replace("[\n", '[\n  route("user", "routes/user.ts"),\n'));
  await build(FOLDER);
}, 600_000);

async function start(env = {}) {
  const server = await startServer({ ...ENV, ...env }, FOLDER);
  onTestFinished(async () => void (await server.stop()));
  return server;
}

test("its types are right", () => {
  run(FOLDER, "npx react-router typegen && npx tsc");
});

test("an API sends JSON and 404, and rejects requests of other sites", async () => {
  const { url } = await start();
  const send = (path: string, site: string) =>
    request(url).post(path).auth("preview", ENV.PREVIEW_PASSWORD).set("Sec-Fetch-Site", site);
  const event = await request(url).get("/api/events/1").auth("preview", ENV.PREVIEW_PASSWORD);
  expect([event.status, event.body]).toEqual([200, { id: "1", title: "Coffee at noon" }]);
  expect((await send("/api/nothing", "same-origin")).status).toBe(404);
  expect((await send("/api/nothing", "cross-site")).status).toBe(403);
});

test("a webhook accepts signed bodies of up to 1 MB", async () => {
  const { url, lines } = await start();
  const send = (body: string, signature = createHmac("sha256", ENV.PAYMENTS_SECRET).update(body).digest("hex")) =>
    request(url)
      .post("/webhooks/payments")
      .auth("preview", ENV.PREVIEW_PASSWORD)
      .type("json")
      .set("Signature", signature)
      .send(body);
  const payment = JSON.stringify({ amount: 7, note: "x".repeat(900_000) });
  expect((await send(payment)).status).toBe(204);
  await expect.poll(() => lines).toContainEqual(expect.objectContaining({ msg: "payment received", amount: 7 }));
  expect((await send(payment, "wrong")).status).toBe(401);
  expect((await send("")).status).toBe(500); // It is signed, and no JSON.
  expect((await send("x".repeat(1_000_001))).status).toBe(413);
});

test("www is redirected to the apex", async () => {
  const { url } = await start();
  const { status, headers } = await request(url).get("/menu?a=1").set("Host", "WWW.example.org");
  expect([status, headers.location]).toEqual([308, "https://example.org/menu?a=1"]);
});

test("pages need a password, and probes don't", async () => {
  const { url, opsUrl } = await start();
  const { status, headers } = await request(url).get("/");
  expect([status, headers["www-authenticate"]]).toEqual([401, "Basic"]);
  expect((await request(url).get("/").auth("preview", "wrong")).status).toBe(401);
  expect((await request(url).get("/").auth("preview", ENV.PREVIEW_PASSWORD)).status).toBe(200);
  expect((await request(opsUrl).get("/readyz")).status).toBe(200);
});

test("in maintenance mode, every path has status 503", async () => {
  const { url } = await start({ MAINTENANCE: "on" });
  for (const path of ["/", "/api/events/1", "/robots.txt"]) {
    const { status, headers } = await request(url).get(path);
    expect([status, headers["retry-after"]]).toEqual([503, "600"]);
  }
});

test("a loader gets a value of the middleware", async () => {
  const { url } = await start();
  const { body } = await request(url).get("/user").auth("preview", ENV.PREVIEW_PASSWORD).set("X-User", "ada");
  expect(body).toEqual({ user: "ada" });
});
