import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findFreePort } from "react-router-express-server/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { guardConnections } from "../src/overload/index.ts";
import { drain } from "../src/process/graceful-shutdown.ts";
import { createPublicServer, listen } from "../src/process/listener.ts";
import { FILM_BYTES } from "./support/film.ts";
import { outcomeOf } from "./support/outcome.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, type ServerProcess, spawnServer, startServer } from "./support/start-server.ts";

const GROWN = SITE;
/** Longer than any test: a server that exits within a test didn't wait for this timeout. */
const HOUR_MS = "3600000";

const STEPS = ["starting", "ready", "shutting down: not ready", "closing", "stopped"];

/** The steps that a server has logged. */
const stepsOf = ({ lines }: RunningServer) =>
  lines.map(({ msg }) => msg).filter((msg) => msg !== "request" && msg !== "loading the slow page");

const lineOf = ({ lines }: ServerProcess, msg: string) => lines.find((line) => line.msg === msg);
const waitForLine = (server: ServerProcess, msg: string) =>
  vi.waitUntil(() => lineOf(server, msg), { timeout: 60_000 });

/** Requests the slow page. Once the server is loading it, resolves with a promise of the response. */
async function requestSlowPage(server: RunningServer) {
  const response = fetch(`${server.url}/example-pages/slow`);
  response.catch(() => {}); // Prevents an unhandled rejection: tests await the response later.
  await waitForLine(server, "loading the slow page");
  return { response };
}

/** Sends requests one after the other until the server accepts no connection, and counts their outcomes. */
async function requestUntilRefused(url: string, agent: Agent, outcomes: Record<string, number>) {
  for (let outcome = ""; outcome !== "ECONNREFUSED"; ) {
    outcome = await outcomeOf(url, agent);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
}

async function open(url: string, bytes: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

/** Resolves when the first bytes of a response have arrived, without reading them. */
const waitForResponse = (socket: Socket) => once(socket, "readable");
const readToEnd = (socket: Socket) => text(socket.setEncoding("latin1"));

/** The statuses of both probes. */
function probe(opsUrl: string) {
  const statusOf = (name: string) =>
    fetch(`${opsUrl}/${name}`).then(
      ({ status }) => status,
      () => "refused",
    );
  return Promise.all([statusOf("livez"), statusOf("readyz")]);
}

test.each([1, 2, 3])("a shutdown under load fails no request (%d)", async () => {
  const server = await startServer({}, GROWN);
  const outcomes: Record<string, number> = {};
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  const clients = agents.flatMap((agent) =>
    Array.from({ length: 20 }, () => requestUntilRefused(server.url, agent, outcomes)),
  );
  await vi.waitUntil(() => (outcomes.ok ?? 0) > 500, { timeout: 60_000 });
  expect(await server.stop()).toBe(0);
  await Promise.all(clients);
  // The kernel resets who connects between the server's last accept(2) and its close(2).
  const { ECONNRESET: resets = 0, ...others } = outcomes;
  expect(resets).toBeLessThanOrEqual(1);
  expect(others).toEqual({ ok: expect.any(Number), ECONNREFUSED: clients.length });
  const statuses = server.lines.filter(({ msg }) => msg === "request").map((line) => line["http.response.status_code"]);
  expect(statuses).toEqual(Array(outcomes.ok).fill(200));
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s stops an idle server, with a line for each step",
  async (signal) => {
    const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
    server.child.kill(signal);
    expect(await server.exited).toBe(0);
    expect(stepsOf(server)).toEqual(STEPS);
    expect(server.lines.at(2)).toMatchObject({ reason: signal, delayMs: 0 });
  },
);

test("a slow page is sent during a shutdown, with Connection: close", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  const { response } = await requestSlowPage(server);
  server.child.kill("SIGTERM");
  expect(await waitForLine(server, "closing")).toMatchObject({ connections: 1, pending: 1 });
  server.child.kill("SIGUSR2");
  expect((await response).headers.get("Connection")).toBe("close");
  expect(await (await response).text()).toContain("<h1>Slow</h1>");
  expect(await server.exited).toBe(0);
});

test("event streams end at a shutdown, as complete responses", async () => {
  const folder = mkdtempSync(join(tmpdir(), "greeting-warnings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { SHUTDOWN_TIMEOUT_MS: HOUR_MS, NODE_OPTIONS: `--redirect-warnings=${folder}/warnings` };
  const server = await startServer(env, GROWN);
  const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/example-pages/ticks`)));
  server.child.kill("SIGTERM");
  const streams = await Promise.all(responses.map((response) => response.text()));
  for (const stream of streams) expect(stream).toMatch(/^(data: \S+Z\n\n)+$/);
  expect(await server.exited).toBe(0);
  const requests = server.lines.filter(({ msg }) => msg === "request");
  expect(requests).toHaveLength(streams.length);
  for (const line of requests) {
    expect(line).toMatchObject({ "http.route": "/example-pages/ticks", "http.response.status_code": 200 });
    expect(line["error.type"]).toBeUndefined();
  }
  expect(stepsOf(server)).toEqual(STEPS);
  // Node has printed no warning, such as of too many listeners.
  expect(readdirSync(folder)).toEqual([]);
});

test("a stream that begins during a shutdown ends at once", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  // The second waits for the first.
  const requests = ["/example-pages/slow", "/example-pages/ticks"].map(
    (path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  const socket = await open(server.url, requests.join(""));
  await waitForLine(server, "loading the slow page");
  server.child.kill("SIGTERM");
  await waitForLine(server, "closing");
  server.child.kill("SIGUSR2");
  expect(await readToEnd(socket)).toMatch(/<h1>Slow<\/h1>[\s\S]*data: \S+Z\n\n\r\n0\r\n\r\n$/);
  expect(await server.exited).toBe(0);
});

test("a slow reader gets a complete file during a shutdown", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  const socket = await open(server.url, "GET /film.mp4 HTTP/1.1\r\nHost: x\r\n\r\n");
  await waitForResponse(socket);
  server.child.kill("SIGTERM");
  await waitForLine(server, "closing");
  const response = await readToEnd(socket);
  expect(response.length - response.indexOf("\r\n\r\n") - 4).toBe(FILM_BYTES);
  expect(await server.exited).toBe(0);
});

test("the server handles a request whose last bytes come just after the signal", async () => {
  const server = await startServer({}, GROWN);
  const partial = await open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n");
  const idle = await open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await waitForResponse(idle); // Connections are accepted in order, so the first is accepted, too.
  server.child.kill("SIGTERM");
  await vi.waitUntil(async () => (await probe(server.opsUrl))[1] === 503, { timeout: 60_000, interval: 5 });
  partial.write("\r\n");
  idle.write("GET /no/where HTTP/1.1\r\nHost: x\r\n\r\n");
  const [first, second] = await Promise.all([readToEnd(partial), readToEnd(idle)]);
  // Each response is complete and the connection closes, with or without `Connection: close`.
  expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*<\/html>$/);
  expect(second).toMatch(/HTTP\/1\.1 404 Not Found\r\n[\s\S]*<\/html>$/);
  expect(await server.exited).toBe(0);
});

test("idle connections don't keep a server from stopping", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  const sockets = [
    await open(server.url, ""),
    await open(server.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    await open(server.opsUrl, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
  ];
  await Promise.all(sockets.slice(1).map(waitForResponse));
  expect(await server.stop()).toBe(0);
  expect(stepsOf(server)).toEqual(STEPS);
  for (const socket of sockets) socket.destroy();
});

test("a shutdown continues after an error of the server", async () => {
  const server = createPublicServer().on("error", () => {});
  const options = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
  const connections = guardConnections(server, options);
  await listen(server, 0, "127.0.0.1");
  const drained = drain(server, connections, new AbortController(), Number(HOUR_MS));
  server.emit("error", new Error("accept EMFILE"));
  expect(await drained).toBe(0);
});

test("requests that are pending at the timeout are cut, and the exit code is 1", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: "500" }, GROWN);
  const { response } = await requestSlowPage(server);
  expect(await server.stop()).toBe(1);
  const error = await response.catch((error) => error.cause.code);
  expect(error).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  expect(server.lines.slice(-3)).toMatchObject([
    { msg: "request", "http.route": "/example-pages/slow", "error.type": "aborted" },
    { level: "warn", cut: 1 },
    { msg: "stopped" },
  ]);
  expect(lineOf(server, "stopped")?.tookMs).toBeGreaterThanOrEqual(499);
});

test("a server accepts requests during the delay, and then stops", async () => {
  const server = await startServer({ SHUTDOWN_DELAY_MS: "500" }, GROWN);
  expect(await server.stop()).toBe(0);
  expect(stepsOf(server)).toEqual(STEPS);
  expect(lineOf(server, "stopped")?.tookMs).toBeGreaterThanOrEqual(499);
});

test("a second signal ends the server at once", async () => {
  const server = await startServer({ SHUTDOWN_DELAY_MS: HOUR_MS }, GROWN);
  server.child.kill("SIGTERM");
  // A second signal soon after the first counts as the same signal.
  await vi.waitUntil(() => !server.child.kill("SIGINT"), { timeout: 60_000 });
  expect(await server.exited).toBe(1);
  expect(stepsOf(server).slice(2)).toEqual(["shutting down: not ready", "exiting at once"]);
});

test("SIGUSR1 opens no inspector", async () => {
  const { child, exited, ...server } = await startServer({}, GROWN);
  child.kill("SIGUSR1");
  expect((await fetch(server.url)).status).toBe(200);
  await expect(fetch("http://127.0.0.1:9229/json")).rejects.toThrow();
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
});

test("a signal that npm repeats counts once", async () => {
  const { child, exited } = await startServer({}, GROWN);
  // While the process is stopped, both signals are queued, so it gets them at the same time.
  for (const signal of ["SIGSTOP", "SIGINT", "SIGTERM", "SIGCONT"] as const) child.kill(signal);
  expect(await exited).toBe(0);
});

test.each([
  { path: "/example-pages/throws", event: "uncaughtException", message: "thrown outside of any request" },
  { path: "/example-pages/rejects", event: "unhandledRejection", message: "rejected outside of any request" },
])(
  "an $event outside of any request logs one fatal line, and the shutdown fails no request",
  async ({ path, event, message }) => {
    const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
    const { response } = await requestSlowPage(server);
    await (await fetch(server.url + path)).text();
    await waitForLine(server, "closing");
    server.child.kill("SIGUSR2");
    expect(await (await response).text()).toContain("<h1>Slow</h1>");
    expect(await server.exited).toBe(1);
    const stack = expect.stringMatching(/^Error: .*\n {4}at /);
    expect(server.lines.filter(({ level }) => level === "fatal")).toEqual([
      expect.objectContaining({
        msg: "uncaught exception",
        origin: event,
        "exception.message": message,
        "exception.stacktrace": stack,
      }),
    ]);
    expect(stepsOf(server).slice(2)).toEqual(["uncaught exception", ...STEPS.slice(2)]);
  },
);

test("/livez and /readyz have the right status from startup to exit", async () => {
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const [url, opsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${opsPort}`];
  const probes = () => probe(opsUrl);
  const env = { PORT: String(port), OPS_PORT: String(opsPort), START: "waits", SHUTDOWN_DELAY_MS: HOUR_MS };
  const server = spawnServer(env, GROWN);
  const { child, exited } = server;
  await waitForLine(server, "loading the start page");
  expect(await probes()).toEqual([200, 503]);
  child.kill("SIGUSR2");
  await expect.poll(probes).toEqual([200, 200]);

  child.kill("SIGTERM");
  await expect.poll(probes).toEqual([200, 503]);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("Connection")).toBe("keep-alive");
  expect(await probes()).toEqual([200, 503]);
  // A second signal soon after the first counts as the same signal.
  await vi.waitUntil(() => !child.kill("SIGINT"), { timeout: 60_000 });
  expect(await exited).toBe(1);
  expect(await probes()).toEqual(["refused", "refused"]);
});
