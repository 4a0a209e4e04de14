// The database of docs/data-and-databases.md, in a copy of the project, with a real Postgres.
import { execFile } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { build, copyProject } from "./support/copy-project.ts";
import { createPostgres, type Postgres } from "./support/postgres.ts";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { type ServerProcess, spawnServer } from "./support/start-server.ts";

const EXAMPLE = "test/fixtures/database";

let folder: string;
let postgres: Postgres;

beforeAll(async () => {
  postgres = await createPostgres();
  folder = copyProject();
  cpSync(`${EXAMPLE}/services.ts`, `${folder}/server/services.ts`);
  cpSync(`${EXAMPLE}/users.tsx`, `${folder}/app/routes/users.tsx`);
  appendFileSync(
    `${folder}/app/context.ts`,
    readFileSync(`${EXAMPLE}/context.ts`, "utf8").replace(/^import \{ createContext.*$/m, ""),
  );
  const routes = readFileSync(`${folder}/app/routes.ts`, "utf8");
  const line = '  route("/users", "routes/users.tsx"),';
  writeFileSync(`${folder}/app/routes.ts`, routes.replace("[\n", `[\n${line}\n`));
  await build(folder);
  await postgres.start();
  await postgres.query("CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL)");
});

beforeEach(() => postgres.start());

afterAll(async () => {
  await postgres?.remove();
  if (folder) rmSync(folder, { recursive: true });
});

const statusOf = async (url: string) => (await fetch(url)).status;
const waitForLine = ({ lines }: ServerProcess, msg: string) =>
  vi.waitUntil(() => lines.find((line) => line.msg === msg), { timeout: 60_000 });

/** Starts the copy; resolves when it listens, ready or not. */
async function start() {
  const server = spawnServer({ DATABASE_URL: postgres.url }, folder);
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const findPorts = () => server.lines.find(({ port }) => port !== undefined);
  const { port, opsPort } = await vi.waitUntil(findPorts, { timeout: 60_000 });
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const probe = () => Promise.all([statusOf(`${opsUrl}/livez`), statusOf(`${opsUrl}/readyz`)]);
  return { ...server, url: `http://127.0.0.1:${port}`, opsUrl, probe };
}

test("the types of the example are right", async () => {
  await promisify(execFile)("npm", ["run", "typecheck"], { cwd: folder });
});

test("a setting of the services that is missing ends the start with its name", async () => {
  const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0" };
  const command = promisify(execFile)(process.execPath, ["server/index.js"], { cwd: `${folder}/build`, env });
  const { code, stdout, stderr } = await command.catch((error) => error);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: "DATABASE_URL is not set, and has no default\n",
  });
});

test("a page reads and writes the database, and a stop leaves no connection behind", async () => {
  const { url, child, exited } = await start();
  const body = new URLSearchParams({ name: "Ada" });
  expect((await fetch(`${url}/users`, { method: "POST", body, redirect: "manual" })).status).toBe(302);
  expect(await (await fetch(`${url}/users`)).text()).toContain("<li>Ada</li>");
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  const others = "SELECT pid FROM pg_stat_activity WHERE client_port IS NOT NULL AND pid <> pg_backend_pid()";
  await expect.poll(() => postgres.query(others)).toEqual([]);
});

test("without its database the server starts, lives, and isn't ready until the database is there", async () => {
  await postgres.stop();
  const server = await start();
  expect(await server.probe()).toEqual([200, 503]);
  expect(await statusOf(server.url)).toBe(200);
  expect(await statusOf(`${server.url}/users`)).toBe(500);
  await postgres.start();
  await expect.poll(server.probe).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);
});

test("while its database is down the server isn't ready, and then it is again, without a restart", async () => {
  const server = await start();
  await expect.poll(server.probe).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);
  await postgres.stop();
  // Each probe would be a line, if they were not of changes.
  for (let probes = 0; probes < 5; probes += 1) expect(await server.probe()).toEqual([200, 503]);
  expect(await statusOf(server.url)).toBe(200);
  expect(await statusOf(`${server.url}/users`)).toBe(500);
  await postgres.start();
  await expect.poll(server.probe).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);

  await waitForLine(server, "services ready");
  const changes = server.lines.filter(({ msg }) => msg.startsWith("services "));
  expect(changes).toMatchObject([
    { level: "warn", msg: "services not ready", "exception.stacktrace": expect.stringContaining("ECONNREFUSED") },
    { level: "info", msg: "services ready" },
  ]);
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("the database is closed after the last response", async () => {
  const server = await start();
  const client = new Client(postgres.url);
  await client.connect();
  await client.query("BEGIN; LOCK TABLE users");
  // Twice as many as the pool has connections: half have yet to get one when the stop begins.
  const responses = Array.from({ length: 20 }, () => fetch(`${server.url}/users`));
  await expect.poll(async () => (await readProcessMetrics(server)).sockets).toBeGreaterThan(30);
  server.child.kill("SIGTERM");
  await waitForLine(server, "closing");
  await client.query("COMMIT");
  await client.end();
  const pages = await Promise.all(responses.map(async (response) => (await response).text()));
  for (const page of pages) expect(page).toContain("<h1>Users</h1>");
  expect(await server.exited).toBe(0);
});
