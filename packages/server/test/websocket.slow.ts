import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { guardConnections } from "../src/overload/index.ts";
import { drain } from "../src/process/graceful-shutdown.ts";
import { createPublicServer, listen } from "../src/process/listener.ts";
import { handleUpgrades } from "../src/process/upgrades.ts";
import { exchange } from "./support/exchange.ts";
import { expect, test } from "./support/fixtures.ts";
import { readMetric } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const OPTIONS = { maxConnections: 10, clientTimeoutMs: 0, headers: {}, onDrop: expect.unreachable };
const GROWN = SITE;
/** Longer than any test: a server that exits within a test didn't wait for this timeout. */
const HOUR_MS = "3600000";

const addressOf = ({ url }: RunningServer) => `${url.replace("http", "ws")}/socket`;

/** A request whose response has no end. */
const ENDLESS = "GET /example-pages/ticks HTTP/1.1\r\nHost: x\r\n\r\n";

/** The handshake of RFC 6455 §1.2, as bytes. */
const handshake = (path: string) =>
  [
    `GET ${path} HTTP/1.1`,
    "Host: x",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");

/** Opens a WebSocket; resolves with the status that it gets. */
async function statusOf(url: string, headers: Record<string, string> = {}) {
  const client = new WebSocket(url, { headers });
  client.on("error", () => {}); // Of a rejected handshake.
  const status = await new Promise((resolve) => {
    client.once("open", () => resolve(101));
    client.once("unexpected-response", (_request, response) => resolve(response.statusCode));
  });
  client.terminate();
  return status;
}

test.for(["text", Buffer.from([0, 255])])("a WebSocket echoes %j", async (message, { server }) => {
  const client = new WebSocket(addressOf(server));
  await once(client, "open");
  client.send(message);
  const [data, isBinary] = await once(client, "message");
  expect(isBinary ? data : data.toString()).toEqual(message);
  client.close();
  await once(client, "close");
});

test("each handshake is counted, and logged without its query", async ({ server }) => {
  const count = async () => {
    const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text();
    return Number(/^http_upgrade_requests_total (\d+)$/m.exec(metrics)?.[1]);
  };
  const before = await count();
  await statusOf(`${addressOf(server)}/${crypto.randomUUID()}?token=secret`, { "User-Agent": "Tests/2.0" });
  await expect.poll(count).toBe(before + 1);
  const find = () => server.lines.filter((line) => line["user_agent.original"] === "Tests/2.0");
  await expect
    .poll(find)
    .toMatchObject([{ msg: "upgrade", "http.request.method": "GET", "client.address": "127.0.0.1" }]);
  expect(find()[0]?.["url.path"]).toMatch(/^\/socket\/[\da-f-]{36}$/);
});

test.for<[string, Record<string, string>, Record<string, string>, number]>([
  ["a client that isn't a browser", {}, {}, 101],
  ["this origin's page", {}, { Host: "a.example", Origin: "https://a.example" }, 101],
  ["this origin's page, behind a proxy", { ORIGIN: "https://a.example" }, { Origin: "https://a.example" }, 101],
  ["a trusted origin's page", { TRUSTED_ORIGINS: "https://b.example" }, { Origin: "https://b.example" }, 101],
  ["another site's page", {}, { Host: "a.example", Origin: "https://b.example" }, 403],
  ["another site's page, behind a proxy", { ORIGIN: "https://a.example" }, { Origin: "https://b.example" }, 403],
  ["a sandboxed page", {}, { Origin: "null" }, 403],
  ["another site's page in a new browser", {}, { "Sec-Fetch-Site": "cross-site" }, 403],
])("the handshake of %s (settings %j, headers %j) has status %d", async ([_label, env, headers, status]) => {
  const server = await startServer(env, GROWN);
  expect(await statusOf(addressOf(server), headers)).toBe(status);
  expect(await server.stop()).toBe(0);
  const isLogged = server.lines.some(({ msg }) => String(msg).startsWith("cross-origin WebSocket rejected"));
  expect(isLogged).toBe(status === 403);
});

test.each(["Host: a b", "Host: x\r\nContent-Length: 5"])(
  "a handshake with %j gets 400, and isn't passed on",
  async (fields) => {
    const server = await startServer({}, GROWN);
    const bytes = handshake("/socket").replace("Host: x", `${fields}\r\nOrigin: https://b.example`);
    const { responses } = await exchange(server.url, bytes);
    expect(responses.map(({ status }) => status)).toEqual([400]);
    expect(await server.stop()).toBe(0);
    expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
    expect(server.lines.filter(({ origin }) => origin !== undefined)).toEqual([]);
  },
);

/** Starts another site. Resolves with its URL. */
async function startOtherSite() {
  const site = createServer((_req, res) => res.setHeader("Content-Type", "text/html").end("<title>Other</title>"));
  onTestFinished(() => void site.close());
  return `http://127.0.0.1:${await listen(site, 0, "127.0.0.1")}`;
}

test("only pages of the site may open a WebSocket", async ({ page, server, consoleMessages }) => {
  const connectFrom = async (url: string) => {
    await page.goto(url);
    return page.evaluate(
      (address) =>
        new Promise((resolve) => {
          const socket = new window.WebSocket(address);
          socket.onopen = () => socket.send("hello");
          socket.onmessage = ({ data }) => resolve(data);
          socket.onerror = () => resolve("rejected");
        }),
      addressOf(server),
    );
  };
  expect(await connectFrom(`${server.url}/example-pages/about`)).toBe("hello");
  expect(await connectFrom(await startOtherSite())).toBe("rejected");
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining("403")]);
});

test("a WebSocket stays open while it is silent", async () => {
  const server = await startServer({ CLIENT_TIMEOUT_MS: "100" }, GROWN);
  // On a busy machine the connection may be idle for as long before its handshake is read.
  const client = await vi.waitFor(
    async () => {
      const client = new WebSocket(addressOf(server));
      await once(client, "open");
      return client;
    },
    { timeout: 60_000 },
  );
  await setTimeout(500);
  client.send("still here");
  expect(String(await once(client, "message"))).toBe("still here,false");
  client.close();
  expect(await server.stop()).toBe(0);
});

test("the server stops reading from a client that doesn't read, and serves others", async ({ server }) => {
  const [client, other] = [new WebSocket(addressOf(server)), new WebSocket(addressOf(server))];
  await Promise.all([once(client, "open"), once(other, "open")]);
  client.pause();
  for (let i = 0; i < 1400; i++) client.send(Buffer.alloc(64 * 1024));
  let waiting: number;
  do {
    waiting = client.bufferedAmount;
    await setTimeout(1000);
  } while (client.bufferedAmount < waiting);
  expect(waiting).toBeGreaterThan(40e6); // The rest is in the buffers of the kernel.
  other.send("hello");
  expect(String(await once(other, "message"))).toBe("hello,false");
  let received = 0;
  client.on("message", () => {
    received += 1;
  });
  client.resume();
  await expect.poll(() => received).toBe(1400);
  client.terminate();
  other.terminate();
});

test("a client that reads less than 240 bytes a second of what waits for it is dropped", async () => {
  const server = await startServer({ CLIENT_TIMEOUT_MS: "1000" }, GROWN);
  const client = new WebSocket(addressOf(server));
  await once(client, "open");
  client.pause();
  for (let i = 0; i < 1400; i++) client.send(Buffer.alloc(64 * 1024));
  await expect.poll(() => readMetric(server, 'connections_dropped_total{reason="stalled"}')).toBe(1);
  client.terminate();
  expect(await server.stop()).toBe(0);
});

test("a client that doesn't respond to a ping is terminated at the next one", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { site } = await import(`${GROWN}/build/server/site.js`);
  const settings = { SESSION_SECRET: "secret", TRUSTED_ORIGINS: new Set<string>() };
  const shutdown = new AbortController();
  const [log, cache] = [pino({ level: "silent" }), { invalidate: async () => 0, connect() {} }];
  const { upgrade } = await site.definition.openServices({ settings, log, shutdown: shutdown.signal, cache });
  const server = createServer().on("upgrade", upgrade);
  const url = `ws://127.0.0.1:${await listen(server, 0, "127.0.0.1")}/socket`;
  const [client, silent] = [new WebSocket(url), new WebSocket(url, { autoPong: false })];
  await Promise.all([once(client, "open"), once(silent, "open")]);
  const pinged = Promise.all([once(client, "ping"), once(silent, "ping")]);
  vi.advanceTimersByTime(30_000);
  await pinged;
  // The pong arrives before its echo.
  client.send("hello");
  await once(client, "message");
  const closed = once(silent, "close");
  const pingedAgain = once(client, "ping");
  vi.advanceTimersByTime(30_000);
  await Promise.all([closed, pingedAgain]);
  shutdown.abort();
  client.terminate();
  server.close();
});

test("over 100 WebSockets, the handshake has status 503", async () => {
  const server = await startServer({}, GROWN);
  const clients = Array.from({ length: 100 }, () => new WebSocket(addressOf(server)));
  await Promise.all(clients.map((client) => once(client, "open")));
  expect(await statusOf(addressOf(server))).toBe(503);
  const closed = once(clients[0] as WebSocket, "close");
  clients[0]?.close();
  await closed;
  expect(await statusOf(addressOf(server))).toBe(101);
  expect(await server.stop()).toBe(0);
});

test.for(["websocket", "h2c"])(
  "if no service handles upgrades, an upgrade to %s is an ordinary request",
  async (protocol) => {
    const server = createPublicServer();
    guardConnections(server, OPTIONS).handleRequests((_req, res) => res.end());
    const url = `http://127.0.0.1:${await listen(server, 0, "127.0.0.1")}`;
    const { responses } = await exchange(url, handshake("/").replace("websocket", protocol), true);
    expect(responses.map(({ status }) => status)).toEqual([200]);
    server.close();
  },
);

test.for([
  ["a path without a WebSocket", "/", "websocket", 403],
  // Since Node 22.21. Before, it gets the response of the service.
  ["another protocol", "/", "h2c", Number.parseInt(process.versions.node, 10) < 22 ? 403 : 200],
] as const)("a handshake for %s isn't upgraded", async ([_label, path, protocol, status], { server }) => {
  const bytes = handshake(path).replace("websocket", protocol);
  const { responses } = await exchange(server.url, bytes, true);
  expect(responses.map((response) => response.status)).toEqual([status]);
});

test("a shutdown closes WebSockets with 1001, and the exit code is 0", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  const clients = Array.from({ length: 20 }, () => new WebSocket(addressOf(server)));
  await Promise.all(clients.map((client) => once(client, "open")));
  const closed = Promise.all(clients.map((client) => once(client, "close")));
  expect(await server.stop()).toBe(0);
  for (const [code] of await closed) expect(code).toBe(1001);
  expect(server.lines.map(({ msg }) => msg)).not.toContain("cut pending requests");
});

test("a WebSocket that its client doesn't close is cut, and the exit code is 1", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: "500" }, GROWN);
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(handshake("/socket"));
  await once(socket, "readable");
  expect(await server.stop()).toBe(1);
  expect(server.lines).toContainEqual(expect.objectContaining({ level: "warn", cut: 1 }));
  socket.destroy();
});

test("an upgrade that is rejected holds no connection, even if the client doesn't close it", async () => {
  const server = await startServer({ SHUTDOWN_TIMEOUT_MS: HOUR_MS }, GROWN);
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.write(handshake("/"));
  await once(socket, "readable");
  expect(await server.stop()).toBe(0);
  socket.destroy();
});

test("an upgrade during a shutdown is an ordinary request", async () => {
  const server = createPublicServer().on("upgrade", (_req, socket) => socket.destroy());
  const connections = guardConnections(server, OPTIONS);
  connections.handleRequests((_req, res) => res.end("ordinary"));
  const socket = connect(await listen(server, 0, "127.0.0.1"), "127.0.0.1");
  await once(server, "connection");
  const shutdown = new AbortController();
  shutdown.signal.addEventListener("abort", () => socket.write(handshake("/socket")));
  const [response, cut] = await Promise.all([text(socket), drain(server, connections, shutdown, 60_000)]);
  expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*ordinary$/);
  expect(cut).toBe(0);
});

test("an upgrade behind a pending request closes the connection", async ({ server }) => {
  const { responses, isClosed } = await exchange(server.url, ENDLESS + handshake("/socket"));
  expect(isClosed).toBe(true);
  expect(responses.map(({ status }) => status)).not.toContain(101);
});

test("a connection that fails before the service responds causes no uncaught exception", async () => {
  const server = createPublicServer();
  const connections = guardConnections(server, OPTIONS);
  const log = pino({}, { write: (line) => expect(JSON.parse(line).msg).toBe("upgrade") });
  const options = { registry: new Registry(), log, trustProxy: () => false };
  handleUpgrades(server, connections, { ...options, upgrade() {}, reject: () => expect.unreachable() });
  const client = connect(await listen(server, 0, "127.0.0.1"), "127.0.0.1");
  client.write(handshake("/socket"));
  const [, socket] = await once(server, "upgrade");
  expect(connections.countUpgraded()).toBe(1);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  client.resetAndDestroy();
  await closed;
  expect(connections.countUpgraded()).toBe(0);
  server.close();
});
