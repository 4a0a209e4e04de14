// The database of docs/data-and-databases.md, in a copy of the project, with a real Postgres.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { build } from "./support/build.ts";
import { copyDatabaseSite } from "./support/copy-database-site.ts";
import { startNginx } from "./support/nginx.ts";
import { createPostgres, type Postgres } from "./support/postgres.ts";
import { readMetric, readProcessMetrics } from "./support/process-metrics.ts";
import { type ServerProcess, spawnServer } from "./support/start-server.ts";

let folder: string;
let postgres: Postgres;

beforeAll(async () => {
  postgres = await createPostgres();
  folder = copyDatabaseSite();
  await build(folder);
  await postgres.start();
  await postgres.query("CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL)");
  await postgres.query("CREATE TABLE events (slug text PRIMARY KEY, title text NOT NULL)");
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
async function start(env = {}) {
  const server = spawnServer({ DATABASE_URL: postgres.url, ...env }, folder);
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

test("the start fails with the name of a missing setting", async () => {
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
  const { url, opsUrl, child, exited } = await start();
  const body = new URLSearchParams({ name: "Ada" });
  expect((await fetch(`${url}/users`, { method: "POST", body, redirect: "manual" })).status).toBe(302);
  expect(await (await fetch(`${url}/users`)).text()).toContain("<li>Ada</li>");
  expect(await readMetric({ opsUrl }, "database_connections")).toBeGreaterThan(0);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  const others = "SELECT pid FROM pg_stat_activity WHERE client_port IS NOT NULL AND pid <> pg_backend_pid()";
  await expect.poll(() => postgres.query(others)).toEqual([]);
});

test("without its database, the server starts, lives, and isn't ready until the database is up", async () => {
  await postgres.stop();
  const server = await start();
  expect(await server.probe()).toEqual([200, 503]);
  expect(await statusOf(server.url)).toBe(200);
  expect(await statusOf(`${server.url}/users`)).toBe(500);
  await postgres.start();
  await expect.poll(server.probe).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);
});

test.each([
  ["stays ready by default", {}, 200],
  ["isn't ready with READINESS=services", { READINESS: "services" }, 503],
])("without its database, a server that has started %s, and needs no restart later", async (_label, env, status) => {
  const server = await start(env);
  await expect.poll(server.probe).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);
  await postgres.stop();
  await waitForLine(server, "services not ready");
  // The log has a line for each change of the services, not for each probe.
  for (let probes = 0; probes < 5; probes += 1) expect(await server.probe()).toEqual([200, status]);
  expect(await statusOf(server.url)).toBe(200);
  expect(await statusOf(`${server.url}/users`)).toBe(500);
  await postgres.start();
  await waitForLine(server, "services ready");
  expect(await server.probe()).toEqual([200, 200]);
  expect(await statusOf(`${server.url}/users`)).toBe(200);

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

const SLUGS = ["concert", "reading", "opera"];
const PATHS = [
  ...["/events", "/events/", "/Events", "/EVENTS", "/events.data"].map((path) => [path, SLUGS] as const),
  ...SLUGS.flatMap((slug) =>
    [`/events/${slug}`, `/EVENTS/${slug}/`, `/events/${slug}.data`].map((path) => [path, [slug]] as const),
  ),
];
const EDITS = 300;
/** How old a page may be in a process that did not handle the edit. */
const MAX_DELAY_MS = Number(process.env.MAX_DELAY_MS ?? 1000);

async function listen(server: Server, port: number, host: string) {
  await once(server.listen(port, host), "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends an edit as the example's form does. Resolves with the address of the process that handled it. */
async function edit(url: string, slug: string, title: string) {
  const body = new URLSearchParams({ title });
  const response = await fetch(`${url}/events/${slug}`, { method: "POST", body, redirect: "manual" });
  expect(response.status).toBe(302);
  return response.headers.get("X-Process");
}

test("while clients read, an edit shows at once in the process that handled it, and soon in the others", async () => {
  await postgres.query(`INSERT INTO events VALUES ${SLUGS.map((slug) => `('${slug}', '${slug} v0.')`).join()}`);
  const listener = new Client(postgres.url);
  let notifications = 0;
  // Other messages have the processes' names.
  listener.on("notification", ({ payload = "" }) => JSON.parse(payload).groups.length > 0 && notifications++);
  await listener.connect();
  await listener.query("LISTEN cache_invalidation");
  const servers = [await start(), await start(), await start()];
  const upstream = servers.map(({ url }) => `server ${new URL(url).host};`).join(" ");
  const location = "proxy_pass http://events; add_header X-Process $upstream_addr always;";
  const nginx = await startNginx(`upstream events { ${upstream} keepalive 32; }`, location);
  onTestFinished(nginx.stop);

  const edits: { slug: string; version: number; process: string | null; endedAt: number }[] = [];
  const reads = { own: 0, ownOld: 0, others: 0, othersOld: 0, othersOldAfter100Ms: 0 };
  let isOver = false;
  const read = async () => {
    while (!isOver) {
      const [path, slugs] = PATHS[Math.floor(Math.random() * PATHS.length)] as (typeof PATHS)[number];
      const startedAt = performance.now();
      const response = await fetch(nginx.url + path);
      const text = await response.text();
      expect(response.status).toBe(200);
      for (const slug of slugs) {
        const version = Number(new RegExp(`${slug} v(\\d+)\\.`).exec(text)?.[1]);
        const last = edits.findLast((edit) => edit.slug === slug && edit.endedAt <= startedAt);
        const isOwn = last?.process === response.headers.get("X-Process");
        const isOld = last !== undefined && !(version >= last.version);
        reads[isOwn ? "own" : "others"] += 1;
        if (!isOld) continue;
        if (isOwn) reads.ownOld += 1;
        else if (startedAt - last.endedAt > MAX_DELAY_MS) reads.othersOld += 1;
        if (!isOwn && startedAt - last.endedAt > 100) reads.othersOldAfter100Ms += 1;
      }
    }
  };
  const readers = Array.from({ length: 12 }, read);
  for (let version = 1; version <= EDITS; version++) {
    const slug = SLUGS[version % SLUGS.length] as string;
    const process = await edit(nginx.url, slug, `${slug} v${version}.`);
    edits.push({ slug, version, process, endedAt: performance.now() });
    await setTimeout(20);
  }
  isOver = true;
  await Promise.all(readers);
  await listener.end();
  console.log({ notifications, ...reads });
  expect(notifications).toBe(EDITS);
  expect(reads).toMatchObject({ ownOld: 0, othersOld: 0 });
  expect(Math.min(reads.own, reads.others)).toBeGreaterThan(1000);
  expect(new Set(edits.map(({ process }) => process)).size).toBe(3);
});

test("without its cache channel, a process revalidates after 1 s; when the channel is back, all groups expire", async () => {
  const { port } = new URL(postgres.url);
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const upstream = connect(Number(port), "127.0.0.1").on("error", () => socket.destroy());
    sockets.add(socket.on("error", () => upstream.destroy()));
    socket.pipe(upstream).pipe(socket);
  });
  const proxyPort = await listen(proxy, 0, "127.0.0.1");
  const [editor, reader] = [
    await start(),
    await start({ DATABASE_LISTEN_URL: postgres.url.replace(port, String(proxyPort)) }),
  ];
  const readTitle = async (path: string) => (await (await fetch(reader.url + path)).text()).match(/cut v\d+/)?.[0];
  await postgres.query("INSERT INTO events VALUES ('cut', 'cut v0')");
  await expect.poll(async () => /connected 1/.test(await (await fetch(`${reader.opsUrl}/metrics`)).text())).toBe(true);
  await edit(editor.url, "cut", "cut v1");
  await expect.poll(() => readTitle("/events/cut")).toBe("cut v1");

  proxy.close();
  for (const socket of sockets) socket.destroy();
  await waitForLine(reader, "cache channel disconnected: responses with cache groups are revalidated after 1 s");
  for (let version = 2; version < 7; version++) {
    await edit(editor.url, "cut", `cut v${version}`);
    await setTimeout(2000);
    expect(await readTitle("/events/cut")).toBe(`cut v${version}`);
  }
  await edit(editor.url, "cut", "cut v7");
  await listen(proxy, proxyPort, "127.0.0.1");
  await waitForLine(reader, "cache channel connected");
  expect(await readTitle("/events")).toBe("cut v7");
  const warnings = reader.lines.filter(({ level }) => level === "warn");
  expect(warnings).toHaveLength(1);
});
