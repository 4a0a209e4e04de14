// The middleware of docs/growing-up.md, in a copy of the project.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { build, copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const FOLDER = copyProject();
afterAll(() => rmSync(FOLDER, { recursive: true }));

beforeAll(async () => {
  cpSync("test/fixtures/middleware", FOLDER, { recursive: true });
  const routes = readFileSync(`${FOLDER}/app/routes.ts`, "utf8");
  writeFileSync(`${FOLDER}/app/routes.ts`, routes.replace("[\n", '[\n  route("user", "routes/user.ts"),\n'));
  await build(FOLDER);
}, 600_000);

async function start() {
  const server = await startServer({}, FOLDER);
  onTestFinished(async () => void (await server.stop()));
  return server;
}

test("its types are right", () => {
  run(FOLDER, "npx react-router typegen && npx tsc");
});

test("www is redirected to the apex", async () => {
  const { url } = await start();
  const { status, headers } = await request(url).get("/menu?a=1").set("Host", "WWW.example.org");
  expect([status, headers.location]).toEqual([308, "https://example.org/menu?a=1"]);
});

test("a loader gets a value of the middleware", async () => {
  const { url } = await start();
  const { body } = await request(url).get("/user").set("X-User", "ada");
  expect(body).toEqual({ user: "ada" });
});
