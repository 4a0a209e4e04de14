// The examples better-auth and queue, with a real Postgres.
import { rmSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addExamples } from "./support/add-examples.ts";
import { build, copyProject } from "./support/copy-project.ts";
import { startServices } from "./support/start-services.ts";

const FOLDER = copyProject({ withTests: true });
let services: Awaited<ReturnType<typeof startServices>>;

beforeAll(async () => {
  services = await startServices();
  addExamples(FOLDER, ["better-auth", "queue"]);
  await build(FOLDER);
}, 1_800_000);

afterAll(() => {
  services?.stop();
  rmSync(FOLDER, { recursive: true });
});

const PASSWORD = "four words and more";

const post = (url: string, fields: Record<string, string>) =>
  fetch(url, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });

test("two processes start at once on an empty database, and both get ready", async () => {
  const start = () => startServer({ DATABASE_URL: services.env.DATABASE_URL }, FOLDER);
  const servers = await Promise.all([start(), start()]);
  for (const { opsUrl } of servers) {
    await expect.poll(async () => (await fetch(`${opsUrl}/readyz`)).status).toBe(200);
  }
  const [one, other] = servers;
  const fields = { name: "Ada", email: "ada@example.org", password: PASSWORD };
  expect((await post(`${one.url}/register`, fields)).status).toBe(303);
  // The other process has the same accounts.
  expect((await post(`${other.url}/log-in`, fields)).status).toBe(303);
  for (const { stop } of servers) expect(await stop()).toBe(0);
});

test("accounts survive a restart, and an order that is saved is packed by one process", async () => {
  const start = () => startServer({ DATABASE_URL: services.env.DATABASE_URL }, FOLDER);
  const [one, other] = await Promise.all([start(), start()]);
  await expect.poll(async () => (await fetch(`${one.opsUrl}/readyz`)).status).toBe(200);
  expect((await post(`${one.url}/log-in`, { email: "ada@example.org", password: PASSWORD })).status).toBe(303);
  const location = (await post(`${one.url}/orders`, { item: "A lathe" })).headers.get("Location");
  const read = async () => (await fetch(`${other.url}${location}`)).text();
  await expect.poll(read).toContain("Your order is packed.");
  const packed = [...one.lines, ...other.lines].filter(({ msg }) => msg === "order packed");
  expect(packed).toEqual([expect.objectContaining({ order: { item: "A lathe" } })]);
  expect(await Promise.all([one.stop(), other.stop()])).toEqual([0, 0]);
});

test("without its database, the server starts, and an order gets 500", async () => {
  const server = await startServer({ DATABASE_URL: "postgres://127.0.0.1:1/none" }, FOLDER);
  expect((await fetch(`${server.url}/`)).status).toBe(200);
  expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(503);
  expect((await post(`${server.url}/orders`, { item: "A lathe" })).status).toBe(500);
  expect(await server.stop()).toBe(0);
});
