import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { Agent, createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { build, copyWithPages } from "./support/copy-project.ts";
import { outcomeOf } from "./support/outcome.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const FILM_SIZE = 20 * 1024 * 1024;

const PAGES = {
  slow: `
    import { setTimeout } from "node:timers/promises";
    export async function loader({ url }: { url: URL }) {
      await setTimeout(Number(url.searchParams.get("ms")));
      return null;
    }
    export default () => <h1>At last</h1>;`,
  throws: `
    export function loader() {
      setImmediate(() => {
        throw new Error("thrown by nobody's request");
      });
      return null;
    }
    export default () => <h1>Throws</h1>;`,
  rejects: `
    export function loader() {
      Promise.reject(new Error("rejected by nobody's request"));
      return null;
    }
    export default () => <h1>Rejects</h1>;`,
  start: `
    import { setTimeout } from "node:timers/promises";
    export const handle = { renderOnce: true };
    export async function loader() {
      if (process.env.START === "fails") throw new Error("no page without its data");
      if (process.env.START === "lasts") await setTimeout(1000);
      return null;
    }
    export default () => <h1>Start</h1>;`,
};

let folder: string;

beforeAll(() => {
  folder = copyWithPages(PAGES);
  build(folder);
  writeFileSync(`${folder}/build/client/film.mp4`, Buffer.alloc(FILM_SIZE, "0123456789"));
});

afterAll(() => rmSync(folder, { recursive: true }));

const messages = ({ lines }: RunningServer) => lines.map(({ msg }) => msg).filter((msg) => msg !== "request");

/** Resolves with the exit code and the time it took, in ms, from now. */
async function exitOf({ child }: RunningServer) {
  const begun = performance.now();
  const [code] = await once(child, "exit");
  await vi.waitUntil(() => child.stdout?.destroyed || child.stdout?.readableEnded);
  return { code, ms: performance.now() - begun };
}

/** Asks again and again until no connection can be had, and counts what became of each request. */
async function askUntilRefused(url: string, agent: Agent, outcomes: Record<string, number>) {
  for (let outcome = ""; outcome !== "ECONNREFUSED"; ) {
    outcome = await outcomeOf(url, agent);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
}

/** A connection that has sent something, and what comes back on it. */
async function open(url: string, bytes: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(bytes);
  await setTimeout(100);
  return socket;
}

const answerOn = (socket: Socket) => text(socket.setEncoding("latin1"));

test.each([1, 2, 3])("a stop under load costs no request (%d)", async () => {
  const server = await startServer();
  const outcomes: Record<string, number> = {};
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  const clients = agents.flatMap((agent) =>
    Array.from({ length: 20 }, () => askUntilRefused(server.url, agent, outcomes)),
  );
  await vi.waitUntil(() => (outcomes.ok ?? 0) > 500, { timeout: 20_000 });
  server.child.kill("SIGTERM");
  const { code, ms } = await exitOf(server);
  await Promise.all(clients);
  expect(outcomes).toEqual({ ok: expect.any(Number), ECONNREFUSED: clients.length });
  expect(code).toBe(0);
  expect(ms).toBeLessThan(5000);
  const statuses = server.lines.filter(({ msg }) => msg === "request").map(({ status }) => status);
  expect(statuses).toEqual(Array(outcomes.ok).fill(200));
});

test.each(["SIGTERM", "SIGINT"] as const)("%s stops a server that nobody uses, a line a step", async (signal) => {
  const server = await startServer();
  server.child.kill(signal);
  const { code, ms } = await exitOf(server);
  expect(code).toBe(0);
  expect(ms).toBeLessThan(1000);
  expect(messages(server)).toEqual(["starting", "ready", "stopping: not ready any more", "closing", "stopped"]);
  expect(server.lines.at(2)).toMatchObject({ reason: signal, delayMs: 0 });
});

test("a slow page in flight is answered, and says that the connection closes", async () => {
  const server = await startServer({}, folder);
  const answer = fetch(`${server.url}/slow?ms=1500`);
  await setTimeout(500);
  server.child.kill("SIGTERM");
  const exit = exitOf(server);
  const response = await answer;
  expect(await response.text()).toContain("At last");
  expect(response.headers.get("Connection")).toBe("close");
  expect((await exit).code).toBe(0);
  expect(server.lines.find(({ msg }) => msg === "closing")).toMatchObject({ connections: 1, pending: 1 });
});

test("a file that is on its way to a slow reader arrives whole", async () => {
  const server = await startServer({}, folder);
  const socket = await open(server.url, "GET /film.mp4 HTTP/1.1\r\nHost: x\r\n\r\n");
  server.child.kill("SIGTERM");
  const exit = exitOf(server);
  await setTimeout(1000);
  const answer = await answerOn(socket);
  expect(answer.length - answer.indexOf("\r\n\r\n") - 4).toBe(FILM_SIZE);
  expect((await exit).code).toBe(0);
});

test("a request whose last bytes come just after the signal is answered", async () => {
  const server = await startServer();
  const socket = await open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n");
  const idle = await open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  server.child.kill("SIGTERM");
  await setTimeout(50);
  socket.write("\r\n");
  idle.write("GET /no/where HTTP/1.1\r\nHost: x\r\n\r\n");
  const [answer, second] = await Promise.all([answerOn(socket), answerOn(idle)]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/);
  expect(second).toMatch(/HTTP\/1\.1 404 Not Found\r\n[\s\S]*\r\nConnection: close\r\n/);
});

test("idle connections don't keep a server from stopping", async () => {
  const server = await startServer();
  const sockets = await Promise.all([
    open(server.url, ""),
    open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    open(server.opsUrl, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
  ]);
  server.child.kill("SIGTERM");
  const { code, ms } = await exitOf(server);
  expect(code).toBe(0);
  expect(ms).toBeLessThan(2000);
  for (const socket of sockets) socket.destroy();
});

test("what is unanswered at the timeout is cut, and the exit code says so", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: "500" }, folder);
  const answer = fetch(`${server.url}/slow?ms=60000`).catch((error) => error.cause.code);
  await setTimeout(500);
  server.child.kill("SIGTERM");
  const { code, ms } = await exitOf(server);
  expect(code).toBe(1);
  expect(ms).toBeGreaterThan(450);
  expect(ms).toBeLessThan(10_000);
  expect(await answer).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  expect(server.lines).toContainEqual(expect.objectContaining({ level: "warn", cut: 1 }));
});

test("a second signal ends the server at once", async () => {
  const server = await startServer({ SHUTDOWN_DELAY_MS: "60000" });
  server.child.kill("SIGTERM");
  await setTimeout(500);
  expect(server.child.exitCode).toBe(null);
  server.child.kill("SIGINT");
  const { code, ms } = await exitOf(server);
  expect(code).toBe(1);
  expect(ms).toBeLessThan(2000);
  expect(messages(server).slice(2)).toEqual(["stopping: not ready any more", "exiting at once"]);
});

test("a signal that npm passes on a second time counts once", async () => {
  const server = await startServer();
  server.child.kill("SIGINT");
  server.child.kill("SIGTERM");
  expect((await exitOf(server)).code).toBe(0);
});

test.each([
  ["throws", "uncaughtException", "thrown by nobody's request"],
  ["rejects", "unhandledRejection", "rejected by nobody's request"],
])("a page that %s outside its request: one fatal line, and a stop that drops nobody", async (path, event, message) => {
  const server = await startServer({}, folder);
  const answer = fetch(`${server.url}/slow?ms=1000`);
  await setTimeout(300);
  await (await fetch(`${server.url}/${path}`)).text();
  const { code } = await exitOf(server);
  expect(code).toBe(1);
  expect(await (await answer).text()).toContain("At last");
  const stack = expect.stringMatching(/^Error: .*\n {4}at /);
  expect(server.lines.filter(({ level }) => level === "fatal")).toEqual([
    expect.objectContaining({ msg: event, err: expect.objectContaining({ message, stack }) }),
  ]);
  expect(messages(server).slice(2)).toEqual([event, "stopping: not ready any more", "closing", "stopped"]);
});

test("a page that can't be rendered ends the start with its error", async () => {
  const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0", START: "fails" };
  const child = spawn(process.execPath, [`${folder}/build/server/index.js`], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [log, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(code).toBe(1);
  expect(complaints).toBe("");
  expect(log).toMatch(/"level":"fatal".*can't be rendered.*no page without its data/);
  expect(log).not.toContain('"ready"');
});

test("the probes, from start to end", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const probe = (name: string) =>
    fetch(`http://127.0.0.1:${port}/${name}`).then(
      ({ status }) => status,
      () => "no answer",
    );
  const probes = async () => [await probe("livez"), await probe("readyz")];

  const starting = startServer({ OPS_PORT: String(port), START: "lasts", SHUTDOWN_DELAY_MS: "2000" }, folder);
  await vi.waitUntil(async () => (await probe("livez")) === 200, { timeout: 10_000 });
  expect(await probes()).toEqual([200, 503]);
  const server = await starting;
  expect(await probes()).toEqual([200, 200]);

  server.child.kill("SIGTERM");
  await vi.waitUntil(async () => (await probe("readyz")) === 503);
  const page = await fetch(server.url);
  expect(page.status).toBe(200);
  expect(page.headers.get("Connection")).toBe("keep-alive");
  expect(await probes()).toEqual([200, 503]);
  expect((await exitOf(server)).code).toBe(0);
  expect(await probes()).toEqual(["no answer", "no answer"]);
});
