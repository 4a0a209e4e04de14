// Connections, and their effect on others.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { Gauge, Registry } from "prom-client";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { guardConnections } from "../src/overload/index.ts";
import { createPublicServer, listen } from "../src/process/listener.ts";
import type { OpsCache } from "../src/process/ops-cache.ts";
import { createOpsServer } from "../src/process/ops-server.ts";
import { exchange } from "./support/exchange.ts";
import { readMetric, readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const FOLDER = SITE;
const CRLF = "\r\n";

const lines = (...all: string[]) => [...all, "", ""].join(CRLF);
const get = (path: string, ...headers: string[]) => lines(`GET ${path} HTTP/1.1`, "Host: localhost", ...headers);

/** The server may reset the connection. */
const connectTo = (port: number) => connect(port, "127.0.0.1").on("error", () => {});

async function open({ url }: RunningServer, bytes: string) {
  const socket = connectTo(Number(new URL(url).port));
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

const readReadiness = () => ({ isReady: true, reason: undefined });
const readStatus = async () => ({ title: "", state: "", isGood: true, sections: [] });

const closeOf = (socket: Socket) => new Promise((resolve) => socket.resume().on("close", () => resolve("closed")));

/** The connections of a server that are closed, not reset: the kernel keeps unsent bytes (FIN_WAIT1, state 04). */
function findClosing(port: number) {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const sockets = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return sockets.filter((line) => line.match(/^ *\d+: \w+:(\w+) \S+ 04 /)?.[1] === hex);
}

test.each([
  ["an ambiguous framing", lines("GET / HTTP/1.1", "Host: localhost", "Transfer-Encoding: gzip, chunked")],
  ["a malformed Host", lines("GET / HTTP/1.1", "Host: a b")],
  ["a body over the limit", lines("POST /example-pages/echo HTTP/1.1", "Host: localhost", "Content-Length: 99999999")],
])("requests that follow %s on the same connection aren't handled", async (_label, rejected) => {
  const server = await startServer({}, FOLDER);
  const form = "a=1";
  const type = "Content-Type: application/x-www-form-urlencoded";
  const action =
    lines("POST /example-pages/echo HTTP/1.1", "Host: localhost", type, `Content-Length: ${form.length}`) + form;
  const { responses, isClosed } = await exchange(server.url, rejected + action + action);
  expect(isClosed).toBe(true);
  expect(responses).toHaveLength(1);
  expect(responses[0]?.status).toBeGreaterThanOrEqual(400);
  await server.stop();
  // By the application or, if what follows can't be parsed, by the parser.
  expect(server.lines.filter(({ msg }) => /^request( rejected by the parser)?$/.test(String(msg)))).toHaveLength(1);
});

test("a hundred pipelined requests get their responses in order", async () => {
  const server = await startServer({}, FOLDER);
  const paths = Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? "/" : `/nowhere-${index}`));
  const rendered = get("/example-pages/sign-up") + get("/example-pages/sign-up?b", "Connection: close");
  const { responses } = await exchange(server.url, paths.map((path) => get(path)).join("") + rendered);
  const statuses = paths.map((path) => (path === "/" ? 200 : 404));
  expect(responses.map(({ status }) => status)).toEqual([...statuses, 200, 200]);
  await server.stop();
});

test("a client that pipelines too much is disconnected, and counted", async () => {
  const server = await startServer({}, FOLDER);
  const before = await readProcessMetrics(server);
  const socket = await open(server, get("/example-pages/slow") + get("/", `X: ${"a".repeat(15_000)}`).repeat(15_000));
  await closeOf(socket);
  await expect.poll(() => readMetric(server, 'connections_dropped_total{reason="pipelined"}')).toBe(1);
  const after = await readProcessMetrics(server);
  expect(after.residentMB - before.residentMB).toBeLessThan(30);
  server.child.kill("SIGKILL");
});

test.each([
  ["a body that a page waits for", "POST /example-pages/echo"],
  ["a body that no page reads", "GET /"],
])("a client that sends %s in small chunks is disconnected, and counted", async (_label, line) => {
  const server = await startServer({}, FOLDER);
  const head = lines(`${line} HTTP/1.1`, "Host: localhost", "Transfer-Encoding: chunked");
  const send = (chunk: string, count: number) =>
    exchange(server.url, `${head}${chunk.repeat(count)}0\r\n\r\n${get("/", "Connection: close")}`);
  const { responses } = await send(`80\r\n${"a".repeat(128)}\r\n`, 600);
  expect(responses.at(-1)?.status).toBe(200);
  await closeOf(await open(server, head + "1\r\na\r\n".repeat(10_000)));
  await expect.poll(() => readMetric(server, 'connections_dropped_total{reason="small_chunks"}')).toBe(1);
  await server.stop();
});

test("each response of a pipeline is logged with its bytes", async () => {
  const server = await startServer({}, FOLDER);
  await exchange(server.url, get("/") + get("/nowhere") + get("/", "Connection: close"));
  await server.stop();
  const logged = server.lines.filter(({ msg }) => msg === "request");
  expect(logged.map((line) => line["http.response.status_code"])).toEqual([200, 404, 200]);
  for (const line of logged) {
    expect(line["http.response.size"]).toBeGreaterThan(1000);
    expect(line["error.type"]).toBeUndefined();
  }
});

test("a client that transfers less than 240 bytes per second is dropped, and a faster client is not", async () => {
  const server = await startServer({ CLIENT_TIMEOUT_MS: "1000" }, FOLDER);
  const head = (path: string, length: number) => lines(`POST ${path} HTTP/1.1`, "Host: x", `Content-Length: ${length}`);
  const stalled = closeOf(await open(server, head("/example-pages/large-form", 3)));
  const stalledAfterResponse = closeOf(await open(server, head("/", 3)));
  const trickling = await open(server, head("/example-pages/large-form", 100));
  const trickled = closeOf(trickling);
  const progressing = await open(server, head("/example-pages/large-form", 3000));
  const reader = await open(server, get("/film.mp4")); // It reads nothing.
  const answer = once(progressing, "data");
  // Three times the timeout in all.
  for (let sent = 0; sent < 30; sent++) {
    trickling.write("a");
    progressing.write("a".repeat(100));
    await setTimeout(100);
  }
  expect(String(await answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await Promise.all([stalled, stalledAfterResponse, trickled])).toEqual(Array(3).fill("closed"));
  await expect.poll(() => readMetric(server, 'connections_dropped_total{reason="stalled"}')).toBe(4);
  expect(findClosing(Number(new URL(server.url).port))).toEqual([]);
  reader.destroy();
  progressing.destroy();
  await server.stop();
});

test.each([
  ["a response", get("/")],
  ["an upgraded connection", get("/", "Connection: Upgrade", "Upgrade: websocket")],
])("a client that reads nothing of %s is reset, although it sends empty lines", async (_label, bytes) => {
  const server = createPublicServer();
  const onDrop = vi.fn(() => clearInterval(sending));
  const options = { maxConnections: 10, clientTimeoutMs: 1000, headers: {}, onDrop };
  const { handleRequests, upgrade } = guardConnections(server, options);
  handleRequests((_req, res) => res.end(Buffer.alloc(20_000_000)));
  server.on("upgrade", (_req, socket) => upgrade(socket as Socket) && socket.resume().write(Buffer.alloc(20_000_000)));
  const port = await listen(server, 0, "127.0.0.1");
  const client = connectTo(port).pause();
  client.write(bytes);
  const sending = setInterval(() => client.write(CRLF.repeat(100)), 100);
  await expect.poll(() => onDrop.mock.calls).toEqual([["stalled"]]);
  expect(findClosing(port)).toEqual([]);
  client.destroy();
  server.close();
});

test("a client that first sends a large body, and then reads a large response, isn't dropped", async () => {
  const server = createPublicServer();
  const onDrop = vi.fn<() => void>();
  const options = { maxConnections: 10, clientTimeoutMs: 1000, headers: {}, onDrop };
  const { handleRequests } = guardConnections(server, options);
  const received = vi.fn<(chunk: Buffer) => void>();
  handleRequests((req, res) => void req.on("data", received).on("end", () => res.end(Buffer.alloc(100_000_000))));
  const port = await listen(server, 0, "127.0.0.1");
  const client = connectTo(port);
  client.write(lines("POST / HTTP/1.1", "Host: x", "Content-Length: 50000001"));
  client.write(Buffer.alloc(50_000_000));
  await expect.poll(() => received.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0)).toBe(50_000_000);
  await setTimeout(700); // It is checked once more while it sends.
  client.write("a");
  let next = 0;
  client.on("data", () => client.bytesRead > next && client.pause());
  for (let read = 0; read < 25; read++) {
    next += 1_000_000;
    client.resume();
    await setTimeout(100);
  }
  expect(onDrop).not.toHaveBeenCalled();
  client.destroy();
  server.close();
});

test("pipelined requests are handled one at a time", async () => {
  const server = createPublicServer();
  let running = 0;
  const counts: number[] = [];
  const handle: RequestListener = async (_req, res) => {
    running += 1;
    counts.push(running);
    await setTimeout(50);
    running -= 1;
    res.end();
  };
  const options = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
  guardConnections(server, options).handleRequests(handle);
  const client = connectTo(await listen(server, 0, "127.0.0.1"));
  client.resume().write(get("/").repeat(3));
  await expect.poll(() => counts).toEqual([1, 1, 1]);
  client.destroy();
  server.close();
});

test("connections that pipeline take turns", async () => {
  const server = createPublicServer();
  const handled: string[] = [];
  const handle: RequestListener = ({ url }, res) => {
    handled.push(String(url));
    res.end();
  };
  const options = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
  guardConnections(server, options).handleRequests(handle);
  const port = await listen(server, 0, "127.0.0.1");
  const clients = [connectTo(port), connectTo(port)];
  await Promise.all(clients.map((client) => once(client.resume(), "connect")));
  for (const [index, client] of clients.entries()) client.write(get(`/${index}`).repeat(10));
  await expect.poll(() => handled).toHaveLength(20);
  expect(handled.slice(0, 10)).toContain("/0");
  expect(handled.slice(0, 10)).toContain("/1");
  for (const client of clients) client.destroy();
  server.close();
});

test("the memory of a pipelined request is free again after its response, or when its connection closes", async () => {
  const server = createPublicServer();
  const onDrop = vi.fn();
  const options = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop };
  const { handleRequests, countPending } = guardConnections(server, options);
  handleRequests(({ url }, res) => url === "/" && res.end());
  const port = await listen(server, 0, "127.0.0.1");
  const pipeline = (count: number, path: string) => get(path, `X: ${"a".repeat(15_000)}`).repeat(count); // 20 KB each.
  // 32 MB in all, but only 4 MB at once.
  for (let round = 0; round < 8; round++) {
    const client = connectTo(port).resume();
    client.write(pipeline(100, "/") + pipeline(100, "/slow"));
    await once(server, "request");
    await expect.poll(countPending).toBe(100);
    client.destroy();
    await expect.poll(countPending).toBe(0);
  }
  expect(onDrop).not.toHaveBeenCalled();
  const client = connectTo(port);
  client.write(pipeline(600, "/slow"));
  await expect.poll(() => onDrop.mock.calls).toEqual([["pipelined"]]);
  server.close();
});

test("a handler that runs on after its connection has closed keeps none of the requests that were pipelined behind it", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const server = createPublicServer();
  const options = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
  const { handleRequests, countPending } = guardConnections(server, options);
  const requests: WeakRef<IncomingMessage>[] = [];
  server.on("request", (req) => requests.push(new WeakRef(req)));
  const running: ServerResponse[] = [];
  handleRequests((_req, res) => void running.push(res));
  const client = connectTo(await listen(server, 0, "127.0.0.1"));
  client.write(get("/").repeat(3));
  await expect.poll(() => running).toHaveLength(1);
  expect(countPending()).toBe(3);
  client.destroy();
  await expect.poll(countPending).toBe(0);
  await setTimeout(10); // For what Node does after the event.
  collectGarbage();
  expect(requests.map((reference) => reference.deref() !== undefined)).toEqual([true, false, false]);
  server.close();
});

test("a client isn't dropped while the server is slow to read its body", async () => {
  const server = createPublicServer();
  const handle: RequestListener = async (req, res) => {
    await vi.waitUntil(() => req.readableLength > 0, { timeout: 60_000 });
    await setTimeout(2000); // Twice the timeout.
    for await (const _chunk of req);
    res.end();
  };
  const options = { maxConnections: 10, clientTimeoutMs: 1000, headers: {}, onDrop: expect.unreachable };
  guardConnections(server, options).handleRequests(handle);
  const url = `http://127.0.0.1:${await listen(server, 0, "127.0.0.1")}`;
  expect((await fetch(url, { method: "POST", body: Buffer.alloc(20_000_000) })).status).toBe(200);
  server.close();
});

test("the time of a handler begins anew when a long upload ends", async () => {
  const server = createPublicServer();
  const handle: RequestListener = async (req, res) => {
    for await (const _chunk of req);
    await setTimeout(500);
    res.end();
  };
  const onHandlerTimeout = vi.fn();
  const limits = { maxConnections: 10, clientTimeoutMs: 0, handlerTimeoutMs: 3000 };
  const options = { ...limits, headers: {}, onDrop: expect.unreachable, onHandlerTimeout };
  guardConnections(server, options).handleRequests(handle);
  const url = `http://127.0.0.1:${await listen(server, 0, "127.0.0.1")}`;
  const upload = async function* () {
    for (let chunk = 0; chunk < 20; chunk++) {
      await setTimeout(200);
      yield new Uint8Array(200);
    }
  };
  expect((await fetch(url, { method: "POST", body: upload(), duplex: "half" } as never)).status).toBe(200);
  expect(onHandlerTimeout).not.toHaveBeenCalled();
  server.close();
});

test("the metrics have the current connections and active requests", async () => {
  const server = await startServer({}, FOLDER);
  const readGauges = () =>
    Promise.all(
      ["http_server_open_connections", "http_server_active_requests"].map((name) => readMetric(server, name)),
    );
  const incomplete = lines("POST /example-pages/large-form HTTP/1.1", "Host: localhost", "Content-Length: 9");
  const sockets = await Promise.all([open(server, incomplete), open(server, "")]);
  await expect.poll(readGauges).toEqual([2, 1]);
  for (const socket of sockets) socket.destroy();
  await expect.poll(readGauges).toEqual([0, 0]);
  await server.stop();
});

test("a client that waits for a slow page is not dropped", async () => {
  const server = await startServer({ CLIENT_TIMEOUT_MS: "300" }, FOLDER);
  const response = fetch(`${server.url}/example-pages/slow`);
  await vi.waitUntil(() => server.lines.find(({ msg }) => msg === "loading the slow page"), { timeout: 60_000 });
  await setTimeout(1500);
  server.child.kill("SIGUSR2");
  expect((await response).status).toBe(200);
  await server.stop();
});

test("an idle connection is closed after KEEP_ALIVE_TIMEOUT_MS", async () => {
  const server = await startServer({ KEEP_ALIVE_TIMEOUT_MS: "1000" }, FOLDER);
  const { responses, isClosed } = await exchange(server.url, get("/"));
  expect(responses).toMatchObject([{ status: 200, headers: { "keep-alive": "timeout=1" } }]);
  expect(isClosed).toBe(true);
  expect(await readMetric(server, 'connections_dropped_total{reason="idle"}')).toBe(1);
  await server.stop();
});

test("requests that arrived while the process was paused get their responses, even after KEEP_ALIVE_TIMEOUT_MS", async () => {
  const server = await startServer({ KEEP_ALIVE_TIMEOUT_MS: "2000" }, FOLDER);
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open(server, get("/"))));
  await Promise.all(sockets.map((socket) => once(socket, "data")));
  server.child.kill("SIGSTOP");
  for (const socket of sockets) socket.write(get("/", "Connection: close"));
  await setTimeout(4000);
  server.child.kill("SIGCONT");
  const responses = await Promise.all(sockets.map((socket) => once(socket, "data")));
  for (const response of responses) expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
  await server.stop();
});

test("an idle connection stays open for KEEP_ALIVE_TIMEOUT_MS, even if CLIENT_TIMEOUT_MS is shorter", async () => {
  const server = await startServer({ KEEP_ALIVE_TIMEOUT_MS: "3600000", CLIENT_TIMEOUT_MS: "1000" }, FOLDER);
  const socket = await open(server, get("/"));
  expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 200 .*\r\nKeep-Alive: timeout=3600\r\n/s);
  await setTimeout(3000);
  socket.write(get("/", "Connection: close"));
  expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 200 /);
  await server.stop();
});

test("at the limit of connections, the one without progress for the longest is closed, and counted", async () => {
  const server = await startServer({ MAX_CONNECTIONS: "3" }, FOLDER);
  const loading = open(server, get("/example-pages/slow"));
  await vi.waitUntil(() => server.lines.find(({ msg }) => msg === "loading the slow page"), { timeout: 60_000 });
  const oldest = await open(server, "");
  const younger = await open(server, get("/"));
  const closed = closeOf(oldest);
  await setTimeout(1500); // For a second after its last progress, a connection counts as active.
  expect(String(await once(await open(server, get("/")), "data"))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await closed).toBe("closed");
  expect([(await loading).closed, younger.closed]).toEqual([false, false]);
  expect(await readMetric(server, 'connections_dropped_total{reason="limit"}')).toBe(1);
  expect(await readMetric(server, 'server_limit{setting="MAX_CONNECTIONS"}')).toBe(3);
  expect(await readMetric(server, 'server_limit_usage{setting="MAX_CONNECTIONS"}')).toBe(3);
  server.child.kill("SIGKILL");
});

test("at the limit of connections, one whose request has just come is kept", async () => {
  const server = createPublicServer();
  const { handleRequests } = guardConnections(server, {
    maxConnections: 2,
    headers: {},
    clientTimeoutMs: 0,
    onDrop() {},
  });
  const requested: (string | undefined)[] = [];
  handleRequests(({ url }) => void requested.push(url));
  const port = await listen(server, 0, "127.0.0.1");
  const closed: string[] = [];
  const connectAs = async (name: string) => {
    const client = connectTo(port).on("close", () => closed.push(name));
    await once(client.resume(), "connect");
    return client;
  };
  const clients = [await connectAs("older"), await connectAs("younger")];
  clients[1]?.write(get("/younger"));
  await setTimeout(1500);
  clients[0]?.write(get("/older"));
  await expect.poll(() => requested).toEqual(["/younger", "/older"]);
  clients.push(await connectAs("new"));
  await expect.poll(() => closed).toEqual(["younger"]);
  for (const client of clients) client.destroy();
  server.close();
});

test("at the limit of connections, idle ones are closed first, then those that wait for their client or are upgraded", async () => {
  const server = createPublicServer();
  const options = { maxConnections: 6, clientTimeoutMs: 0, headers: {}, onDrop: () => {} };
  const { handleRequests, upgrade } = guardConnections(server, options);
  const responses = new Map<string | undefined, ServerResponse>();
  handleRequests(({ url }, res) => (url === "/" ? res.end() : responses.set(url, res)));
  server.on("upgrade", (_req, socket) => upgrade(socket.resume() as Socket));
  const port = await listen(server, 0, "127.0.0.1");
  const closed: string[] = [];
  const upgraded = get("/", "Connection: Upgrade", "Upgrade: websocket");
  const requests = [
    ["is upgraded and sends", upgraded],
    ["idle for less long", get("/later")],
    ["waits for the server", get("/slow")],
    ["waits for its client", lines("POST /slow HTTP/1.1", "Host: localhost", "Content-Length: 9")],
    ["is upgraded", upgraded],
    ["idle", get("/")],
  ] as const;
  const clients: Socket[] = [];
  for (const [name, bytes] of requests) {
    const client = connectTo(port).on("close", () => closed.push(name));
    client.resume().write(bytes);
    await once(client, "connect");
    clients.push(client);
  }
  const sending = setInterval(() => clients[0]?.write("a"), 100);
  await once(clients[5] as Socket, "data");
  responses.get("/later")?.end();
  await setTimeout(3000); // Recent progress keeps a connection, too.
  for (const count of [1, 2, 3, 4, 5]) {
    const client = connectTo(port);
    client.write(get("/slow"));
    clients.push(client);
    await expect.poll(() => closed).toHaveLength(count);
  }
  clearInterval(sending);
  const order = ["idle", "idle for less long", "waits for its client", "is upgraded", "waits for the server"];
  expect(closed).toEqual(order);
  for (const client of clients) client.destroy();
  server.close();
});

test("at the limit of connections, one that doesn't read its 503 is reset", async () => {
  const server = createPublicServer();
  const headers = { "X-Large": "a".repeat(20_000_000) }; // More than the kernel takes.
  const { handleRequests } = guardConnections(server, { maxConnections: 1, clientTimeoutMs: 0, headers, onDrop() {} });
  handleRequests(() => {});
  const port = await listen(server, 0, "127.0.0.1");
  const accepted = once(server, "connection");
  const client = connectTo(port).pause();
  client.write(get("/"));
  const [socket] = await accepted;
  await once(server, "request");
  const other = connectTo(port);
  await expect.poll(() => socket.destroyed).toBe(true);
  for (const opened of [client, other]) opened.destroy();
  server.close();
});

test.each([
  ["between requests", ""],
  ["while a response is pending", get("/first")],
])("empty lines %s are no progress: at the limit of connections, their sender is closed", async (_label, bytes) => {
  const server = createPublicServer();
  const options = { maxConnections: 2, clientTimeoutMs: 0, headers: {}, onDrop: () => {} };
  const { all, handleRequests } = guardConnections(server, options);
  handleRequests(() => {});
  const port = await listen(server, 0, "127.0.0.1");
  const closed: string[] = [];
  const sender = connectTo(port).on("close", () => closed.push("sender"));
  sender.resume().write(bytes);
  const sending = setInterval(() => sender.write(CRLF), 100);
  await expect.poll(() => all.size).toBe(1);
  const waiting = connectTo(port).on("close", () => closed.push("waiting"));
  waiting.resume().write(get("/second"));
  await setTimeout(2500);
  const newest = connectTo(port);
  await expect.poll(() => closed).toEqual(["sender"]);
  clearInterval(sending);
  for (const client of [sender, waiting, newest]) client.destroy();
  server.close();
});

test("with few open files allowed, idle connections are closed for new clients", async () => {
  const server = await startServer({}, FOLDER, ["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", process.execPath]);
  const idle = Array.from({ length: 150 }, () => open(server, ""));
  await Promise.all(idle);
  await setTimeout(1500); // For a second after its last progress, a connection counts as active.
  expect(String(await once(await open(server, get("/")), "data"))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await readMetric(server, 'connections_dropped_total{reason="limit"}')).toBeGreaterThanOrEqual(100);
  server.child.kill("SIGKILL");
});

test.each([
  ["bytes that aren't HTTP", "\x16\x03\x01\r\n\r\n", 400],
  ["more than 100 header lines", get("/", ...Array(100).fill("X: 1")), 431],
  ["headers over 16 KB", get("/", `X: ${"a".repeat(17_000)}`), 431],
  ["CONNECT", lines("CONNECT localhost:443 HTTP/1.1", "Host: localhost"), 405],
  ["a missing Host", lines("GET / HTTP/1.1", "Connection: close"), 400],
  ["an unknown expectation", get("/", "Expect: nonsense", "Connection: close"), 417],
])("the response to %s has the security headers, and is logged", async (_label, bytes, status) => {
  const server = await startServer({}, FOLDER);
  const { responses, isClosed } = await exchange(server.url, bytes);
  expect(isClosed).toBe(true);
  expect(responses).toMatchObject([
    { status, headers: { "x-content-type-options": "nosniff", "cache-control": "no-store" } },
  ]);
  await server.stop();
  expect(server.lines.filter((line) => line["http.response.status_code"] === status)).toHaveLength(1);
});

test("requests that the parser rejects are counted, and at most ten a second are logged", async () => {
  const server = await startServer({}, FOLDER);
  await Promise.all(Array.from({ length: 100 }, () => exchange(server.url, "nonsense\r\n\r\n")));
  expect(await readMetric(server, 'http_parser_rejections_total{status="400"}')).toBe(100);
  await server.stop();
  expect(server.lines.filter(({ msg }) => msg === "request rejected by the parser").length).toBeLessThan(100);
});

test("more requests than the operators' port has connections get 200 or 503, also while the channel is slow", async () => {
  const purge = () => setTimeout(300, { keys: [], others: "published" as const });
  const server = createOpsServer({
    registry: new Registry(),
    readReadiness,
    readStatus,
    cache: { purge } as Partial<OpsCache> as OpsCache,
    host: undefined,
    log: pino({ enabled: false }),
  });
  const url = `http://127.0.0.1:${await listen(server, 0, "127.0.0.1")}`;
  const head = lines("POST /cache/invalidate?all HTTP/1.1", "Host: localhost", "Connection: close");
  const purges = await Promise.all(Array.from({ length: 80 }, () => exchange(url, head)));
  const statuses = purges.flatMap(({ responses }) => responses.map(({ status }) => status));
  expect([...new Set(statuses)].sort()).toEqual([200, 503]);
  server.close();
});

test("failing metrics cause 500 and a log line, and the process lives", async () => {
  const registry = new Registry();
  const collect = () => {
    throw new Error("no such metric");
  };
  new Gauge({ name: "broken", help: "Throws.", collect, registers: [registry] });
  const logged: { msg: string }[] = [];
  const log = pino({}, { write: (line) => logged.push(JSON.parse(line)) });
  const opsServer = createOpsServer({
    registry,
    readReadiness,
    readStatus,
    cache: {} as OpsCache,
    host: undefined,
    log,
  });
  const response = await request(opsServer).get("/metrics");
  expect([response.status, response.text]).toEqual([500, "metrics failed\n"]);
  expect(logged).toMatchObject([{ msg: "metrics failed", err: { message: "no such metric" } }]);
});

test("requests of clients that leave while another one is handled aren't handled", async () => {
  const server = createPublicServer();
  const options = { maxConnections: 1000, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
  const guard = guardConnections(server, options);
  const clients: Socket[] = [];
  let arrived = 0;
  let handled = 0;
  server.on("request", () => {
    arrived += 1;
  });
  guard.handleRequests((_req, res) => {
    handled += 1;
    for (const client of clients) client.resetAndDestroy();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50); // Longer than a turn of the event loop.
    res.end();
  });
  const port = await listen(server, 0, "127.0.0.1");
  for (let count = 0; count < 100; count += 1) clients.push(connectTo(port));
  await expect.poll(() => guard.all.size).toBe(100);
  const closed = Promise.all(clients.map((client) => once(client, "close")));
  for (const client of clients) client.write(get("/"));
  await closed;
  await expect.poll(() => guard.all.size).toBe(0);
  expect([arrived, handled]).toEqual([100, 1]);
  server.close();
});
