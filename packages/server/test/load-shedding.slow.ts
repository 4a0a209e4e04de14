// More requests than the server has memory for.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { createExpress } from "../src/express.ts";
import { FILE_ROUTE } from "../src/locals.ts";
import { createLimits, type Limits, protectFromOverload } from "../src/overload/index.ts";
import { name } from "./site/package.json";
import { readMetric } from "./support/process-metrics.ts";
import { recordMetric } from "./support/record-metric.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const FOLDER = SITE;
const TYPE = "Content-Type: application/x-www-form-urlencoded\r\n";
const PAGES = "/example-pages";

/** Starts a server with one slow page in its handler. `finish` lets that page respond. */
async function startBusy(env: Record<string, string> = {}) {
  const server = await startServer({ MAX_CONCURRENT_REQUESTS: "1", ...env }, FOLDER);
  const slow = fetch(`${server.url}${PAGES}/slow`);
  slow.catch(() => {});
  await vi.waitUntil(() => server.lines.find(({ msg }) => msg === "loading the slow page"), { timeout: 60_000 });
  return { server, slow, finish: () => server.child.kill("SIGUSR2") };
}

const stop = ({ child }: RunningServer) => child.kill("SIGKILL");

test("a request waits while the limit is reached; cached pages, files and probes don't", async () => {
  const { server, slow, finish } = await startBusy();
  let hasResponse = false;
  const waiting = fetch(`${server.url}${PAGES}/sign-up`).finally(() => {
    hasResponse = true;
  });
  for (const url of [server.url, `${server.url}/nowhere`, `${server.url}/favicon.ico`, `${server.opsUrl}/livez`]) {
    await (await fetch(url)).text();
  }
  await expect.poll(() => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}')).toBe(1);
  expect(hasResponse).toBe(false);
  finish();
  expect([(await slow).status, (await waiting).status]).toEqual([200, 200]);
  stop(server);
});

test("a request that has waited for 5 s gets 503, which is counted, but not logged as an error", async () => {
  const { server } = await startBusy();
  const response = await fetch(`${server.url}${PAGES}/sign-up`);
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "5"]);
  await expect.poll(() => readMetric(server, 'requests_shed_total{reason="queue"}')).toBe(1);
  expect(server.lines.filter(({ level }) => level === "error")).toEqual([]);
  stop(server);
});

test.each([
  ["nothing else", ""],
  ["a CONNECT", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ["bytes that aren't HTTP", "garbage\r\n\r\n"],
])("if a client leaves after a request and %s, its slot is free when its loader ends", async (_label, bytes) => {
  const { server, finish } = await startBusy({ HANDLER_TIMEOUT_MS: "3600000" });
  const readUsage = () => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}');
  finish();
  await expect.poll(readUsage).toBe(0);
  const client = connect(Number(new URL(server.url).port), "127.0.0.1");
  client.write(`GET ${PAGES}/slow HTTP/1.1\r\nHost: localhost\r\n\r\n${bytes}`);
  await expect.poll(readUsage).toBe(1);
  client.end();
  await expect.poll(() => readMetric(server, "http_server_active_requests")).toBe(0);
  expect(await readUsage()).toBe(1);
  finish();
  await expect.poll(readUsage).toBe(0);
  stop(server);
});

test("a loader that goes on after its client has left has its slot until HANDLER_TIMEOUT_MS", async () => {
  const server = await startServer({ MAX_CONCURRENT_REQUESTS: "1", HANDLER_TIMEOUT_MS: "3000" }, FOLDER);
  await fetch(`${server.url}${PAGES}/slow`, { signal: AbortSignal.timeout(1000) }).catch(() => {});
  expect(await readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}')).toBe(1);
  await expect.poll(() => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}')).toBe(0);
  stop(server);
});

test("at the limit of connections, a client that waits gets 503, and its loader keeps its slot", async () => {
  const { server, slow, finish } = await startBusy({ MAX_CONNECTIONS: "3" });
  await setTimeout(2500); // Recent progress keeps a connection.
  const { hostname, port } = new URL(server.url);
  for (let client = 0; client < 3; client++) {
    connect(Number(port), hostname)
      .on("error", () => {})
      .write(`GET ${PAGES}/slow HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  }
  const response = await slow;
  const { status, headers } = response;
  expect([status, await response.text()]).toEqual([503, "Service Unavailable\n"]);
  expect(["Retry-After", "Cache-Control", "X-Content-Type-Options"].map((name) => headers.get(name))).toEqual([
    "5",
    "no-store",
    "nosniff",
  ]);
  const usage = (name: string) => readMetric(server, `server_limit_usage{setting="${name}"}`);
  expect([await usage("MAX_CONCURRENT_REQUESTS"), await usage("MAX_OPEN_RESPONSES")]).toEqual([1, 0]);
  finish();
  stop(server);
});

test("while the server is too busy to render, stale pages are sent, and pages without an entry get 503", async () => {
  const server = await startServer({ MAX_CONCURRENT_REQUESTS: "1" }, FOLDER);
  const clock = `${server.url}${PAGES}/kept-clock`;
  await fetch(clock);
  fetch(`${server.url}${PAGES}/slow`).catch(() => {});
  await vi.waitUntil(() => server.lines.find(({ msg }) => msg === "loading the slow page"), { timeout: 60_000 });
  await setTimeout(1500); // It is fresh for a second.
  const missing = fetch(`${server.url}${PAGES}/posts/2`);
  for (let visit = 0; visit < 2; visit++) {
    const response = await fetch(clock);
    expect(response.headers.get("Cache-Status")).toMatch(new RegExp(`^${name}; hit; ttl=-?\\d`));
    await setTimeout(6000 * (1 - visit)); // The render is rejected meanwhile.
  }
  expect((await missing).status).toBe(503);
  expect(server.lines.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
  stop(server);
});

test("if a client leaves during a render, its slot is free again", async () => {
  const env = { MAX_CONCURRENT_REQUESTS: "1", HANDLER_TIMEOUT_MS: "1000", POSTS: "hanging" };
  const server = await startServer(env, FOLDER);
  await fetch(`${server.url}${PAGES}/posts/1`, { signal: AbortSignal.timeout(500) }).catch(() => {});
  const visit = async () => (await fetch(`${server.url}${PAGES}/sign-up`)).status;
  await expect.poll(visit).toBe(200); // The render times out after 10 s.
  for (const setting of ["MAX_CONCURRENT_REQUESTS", "MAX_OPEN_RESPONSES"]) {
    await expect.poll(() => readMetric(server, `server_limit_usage{setting="${setting}"}`)).toBe(0);
  }
  stop(server);
});

test.for([
  ["begins", (admit: RequestHandler, leave: RequestHandler) => [admit, leave]],
  ["is admitted", (admit: RequestHandler, leave: RequestHandler) => [leave, admit]],
] as const)("a response that %s after its client has left takes no slot", async ([, order]) => {
  const usage: (() => number)[] = [];
  const { admit, close } = protectFromOverload({
    limits: createLimits({ MAX_CONCURRENT_REQUESTS: 1 }),
    settings: { BODY_SIZE_LIMIT_BYTES: 1, CLIENT_TIMEOUT_MS: 0, HANDLER_TIMEOUT_MS: 60_000 },
    headers: {},
    handleErrors: expect.unreachable,
    registry: new Registry(),
    measureUsage: (_name, read) => usage.push(read),
  });
  const leave: RequestHandler = async (req, res, next) => {
    if (req.path === "/left") {
      client.destroy();
      await once(res, "close");
    }
    next();
  };
  const respond: RequestHandler = (_req, res) => void res.writeHead(200).end();
  const server = createServer(createExpress().use(order(admit, leave), respond)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.write("GET /left HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(client, "close");
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  await expect.poll(() => usage.map((read) => read())).toEqual([0, 0, 0]);
});

const HANGING_CLIENTS = 300;

const sendStatus: ErrorRequestHandler = (error, _req, res, _next) => void res.writeHead(error.status).end();

/** Starts a server that admits requests to a handler. */
async function protect(
  limits: Partial<Limits>,
  handle: RequestHandler,
  findRoute = (_path: string): string | undefined => undefined,
) {
  const registry = new Registry();
  const { admitBody, admit, close } = protectFromOverload({
    limits: { ...createLimits({}), ...limits },
    settings: { BODY_SIZE_LIMIT_BYTES: 1e6, CLIENT_TIMEOUT_MS: 0, HANDLER_TIMEOUT_MS: 60_000 },
    headers: {},
    handleErrors: expect.unreachable,
    registry,
    measureUsage() {},
  });
  const setRoute: RequestHandler = (req, res, next) => {
    res.locals.httpRoute = findRoute(req.path);
    next();
  };
  const server = createServer(createExpress().use(setRoute, admitBody, admit, handle, sendStatus)).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    server.close().closeAllConnections();
    close();
  });
  await once(server, "listening");
  const shed = recordMetric(registry, "requests_shed_total", ({ reason }) => reason);
  return { port: (server.address() as AddressInfo).port, shed };
}

const form = (path: string, body: string, length = body.length) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${TYPE}Content-Length: ${length}\r\n\r\n${body}`;

test.each([
  ["a small form that has arrived passes one that hasn't", form("/small", "a"), 200],
  ["a form that is too large gets 413 at once", form("/large", "", 200_000), 413],
])("while the memory of bodies is full, %s", async (_label, bytes, status) => {
  const handled: string[] = [];
  const { port, shed } = await protect({ MAX_BODY_MEMORY_BYTES: 1e6 }, (req, res) => {
    handled.push(req.path);
    if (req.path === "/small") res.end();
  });
  const send = (bytes: string) => {
    const client = connect(port, "127.0.0.1").on("error", () => {});
    client.write(bytes);
    return client;
  };
  send(form("/running", "a".repeat(90_000)));
  await expect.poll(() => handled).toEqual(["/running"]);
  send(form("/unfinished", "a", 90_000));
  await setTimeout(500);
  const client = send(bytes.slice(0, -1));
  await setTimeout(500);
  client.write(bytes.slice(-1));
  expect(String(await once(client, "data"))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(shed).toEqual([]);
});

test("a client that has left isn't cut instead of one that is slow", async () => {
  const handled: string[] = [];
  const { port, shed } = await protect({ MAX_BODY_MEMORY_BYTES: 1.5e6 }, (req, res) => {
    handled.push(req.path);
    if (req.path === "/left") res.locals.running?.add(new Promise(() => {})); // Its loader goes on.
    if (req.path === "/last") res.end();
  });
  const send = (path: string, body: string) => {
    const client = connect(port, "127.0.0.1").on("error", () => {});
    client.write(form(path, body, 90_000));
    return client;
  };
  const left = send("/left", "");
  send("/slow", "");
  await expect.poll(() => handled).toEqual(["/left", "/slow"]);
  left.resetAndDestroy();
  await setTimeout(1500);
  send("/last", "a".repeat(90_000));
  await expect.poll(() => handled).toEqual(["/left", "/slow", "/last"]);
  expect(shed).toEqual(["slow_client"]);
});

test.each([
  ["renders", { MAX_CONCURRENT_REQUESTS: 1, MAX_CONNECTIONS: 1 }, ""],
  ["long heads", { MAX_BODY_MEMORY_BYTES: 1 }, "a".repeat(5000)],
])("if too many %s wait, the next gets 503 before them", async (_label, limits, query) => {
  const handled: string[] = [];
  const { port } = await protect(limits, (req) => void handled.push(req.path));
  const visit = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}?${query}`).then(({ status }) => [path, status]);
  visit("/running").catch(() => {});
  await expect.poll(() => handled).toEqual(["/running"]);
  const waiting = visit("/waiting");
  await setTimeout(500);
  expect(await Promise.race([waiting, visit("/next")])).toEqual(["/next", 503]);
  await waiting;
});

test.each([
  ["keeps its slot", { MAX_CONCURRENT_REQUESTS: 1, MAX_OPEN_RESPONSES: 0 }, undefined],
  ["is a file", { MAX_OPEN_RESPONSES: 1 }, FILE_ROUTE],
])("a slow reader whose response %s isn't cut in its first second", async (_label, settings, route) => {
  vi.useFakeTimers({ toFake: ["setInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const responses: Response[] = [];
  const { port, shed } = await protect(
    settings,
    (_req, res) => void responses.push(res),
    () => route,
  );
  const visit = () => {
    const client = connect(port, "127.0.0.1").on("error", () => {});
    client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  };
  visit();
  await expect.poll(() => responses).toHaveLength(1);
  visit();
  await setTimeout(500);
  await vi.advanceTimersByTimeAsync(3000);
  responses[0]?.writeHead(200).write(Buffer.alloc(20_000_000));
  await vi.advanceTimersByTimeAsync(900);
  expect(shed).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(shed).toEqual(["slow_client"]);
  await expect.poll(() => responses).toHaveLength(2);
});

test("while the loaders of a route hang, no cached page and no other route fails", async () => {
  const server = await startServer({ MAX_CONCURRENT_REQUESTS: "16" }, FOLDER);
  const abort = new AbortController();
  const hanging = Array.from({ length: HANGING_CLIENTS }, () =>
    fetch(`${server.url}${PAGES}/wait/60000`, { signal: abort.signal }).catch(() => {}),
  );
  const usage = () => readMetric(server, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}');
  await expect.poll(usage).toBe(10);
  const statuses = [];
  for (let visit = 0; visit < 10; visit += 1) {
    // A cached page that has an entry, one that has none, and two that are rendered for each request.
    const paths = [`${PAGES}/about`, `${PAGES}/catalogue/${visit}`, `${PAGES}/stock/1`, `${PAGES}/sign-up`];
    const visits = paths.map(async (path) => (await fetch(server.url + path)).status);
    statuses.push(...(await Promise.all(visits)));
  }
  expect(statuses).toEqual(Array(40).fill(200));
  abort.abort();
  await Promise.all(hanging);
  stop(server);
});

test("while the actions of a route hang, forms of others are admitted", async () => {
  const handle: RequestHandler = (req, res) => void (req.path === "/other" && res.end());
  const { port } = await protect({ MAX_BODY_MEMORY_BYTES: 1e7 }, handle, (path) => path);
  const post = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "a" });
  for (let client = 0; client < HANGING_CLIENTS; client += 1) post("/hangs").catch(() => {});
  await setTimeout(1000);
  expect((await post("/other")).status).toBe(200);
});

test("a page that every client has stopped waiting for isn't rendered for the cache", async () => {
  const { server, slow, finish } = await startBusy();
  const path = `${PAGES}/posts/2`;
  const client = connect(Number(new URL(server.url).port), "127.0.0.1");
  client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const active = () => readMetric(server, "http_server_active_requests");
  await expect.poll(active).toBe(2);
  client.destroy();
  await expect.poll(active).toBe(1);
  finish();
  expect((await slow).status).toBe(200);
  await (await fetch(`${server.url}${PAGES}/sign-up`)).text(); // It waited behind the page.
  const response = await fetch(server.url + path);
  expect([response.status, response.headers.get("Cache-Status")]).toEqual([200, `${name}; fwd=uri-miss; stored`]);
  stop(server);
});

test("a loader that hangs times out, and keeps its slot for as long again", async () => {
  const { server, slow } = await startBusy({ HANDLER_TIMEOUT_MS: "3000" });
  expect((await slow).status).toBe(503);
  const usage = (name: string) => readMetric(server, `server_limit_usage{setting="${name}"}`);
  expect([await usage("MAX_CONCURRENT_REQUESTS"), await usage("MAX_OPEN_RESPONSES")]).toEqual([1, 0]);
  await expect.poll(() => usage("MAX_CONCURRENT_REQUESTS")).toBe(0);
  expect((await fetch(`${server.url}${PAGES}/sign-up`)).status).toBe(200);
  await expect.poll(() => readMetric(server, 'requests_shed_total{reason="timeout"}')).toBe(1);
  const findLine = () => server.lines.find((line) => line["exception.message"] === "no response within 3000 ms");
  await expect.poll(findLine).toMatchObject({ "http.route": `${PAGES}/slow` });
  stop(server);
});

test("event streams have their own limit, so pages still have slots", async () => {
  const env = { MAX_OPEN_RESPONSES: "2", MAX_CONCURRENT_REQUESTS: "1" };
  const server = await startServer(env, FOLDER);
  const streams = [await fetch(`${server.url}${PAGES}/ticks`), await fetch(`${server.url}${PAGES}/ticks`)];
  const [further, page] = await Promise.all([
    fetch(`${server.url}${PAGES}/ticks`),
    fetch(`${server.url}${PAGES}/sign-up`),
  ]);
  expect([...streams, further, page].map(({ status }) => status)).toEqual([200, 200, 503, 200]);
  await streams[0]?.body?.cancel();
  expect((await fetch(`${server.url}${PAGES}/ticks`)).status).toBe(200);
  // The first stream of another route has the slot of a page, so it is closed.
  const first = fetch(`${server.url}${PAGES}/chunks?type=text/event-stream&count=1000&ms=100`);
  await expect(first).rejects.toThrow("fetch failed");
  expect((await fetch(`${server.url}${PAGES}/sign-up`)).status).toBe(200);
  stop(server);
});

test("if slow readers of a file have all slots, the slowest is cut, and the next client gets the file", async () => {
  const server = await startServer({ MAX_OPEN_RESPONSES: "2" }, FOLDER);
  const { hostname, port } = new URL(server.url);
  const readers = Array.from({ length: 2 }, () => connect(Number(port), hostname).on("error", () => {}));
  const [slow, slowest] = readers as [Socket, Socket];
  // What it has read before doesn't count.
  slowest.write("GET /film.mp4 HTTP/1.1\r\nHost: x\r\nRange: bytes=0-39999999\r\n\r\n");
  slowest.resume();
  await expect.poll(() => slowest.bytesRead).toBeGreaterThan(40e6);
  slowest.pause();
  for (const reader of readers) reader.write("GET /film.mp4 HTTP/1.1\r\nHost: x\r\n\r\n");
  slowest.write("\r\n".repeat(15e6)); // Nor does what it sends.
  // More than the kernel buffers, so that its rate is higher, however late it is measured.
  slow.on("data", () => slow.bytesRead > 50e6 && slow.pause());
  await expect.poll(() => slow.bytesRead).toBeGreaterThan(50e6);
  const usage = () => readMetric(server, 'server_limit_usage{setting="MAX_OPEN_RESPONSES"}');
  await expect.poll(usage).toBe(2);
  const part = { headers: { Range: "bytes=0-9" } };
  expect((await fetch(`${server.url}/film.mp4`, part)).status).toBe(206);
  await expect.poll(() => readMetric(server, 'requests_shed_total{reason="slow_client"}')).toBe(1);
  // Not by `once` of node:events, which rejects with the reset.
  await new Promise((resolve) => slowest.resume().once("close", resolve));
  expect(slow.closed).toBe(false);
  stop(server);
});

test.each([
  ["JSON takes 32 times its length", "echo", "application/json", "Content-Length: 1000", 32_000],
  ["a form takes 4 times its length", "echo", "multipart/form-data; boundary=b", "Content-Length: 100000", 400_000],
  ["JSON with a form's name takes 32", "echo", "text/json; a=multipart/form-data", "Content-Length: 1000", 32_000],
  ["a chunked form takes 4 times its limit", "echo", TYPE.slice(14, -2), "Transfer-Encoding: chunked", 409_600],
  ["a body that must be streamed takes no more", "large-form", "text/plain", "Content-Length: 100000", 0],
])("%s, and 256 KiB, of the memory of bodies", async (_label, page, type, framing, bytes) => {
  const server = await startServer({ MAX_BODY_MEMORY_BYTES: "3000000" }, FOLDER);
  const { hostname, port } = new URL(server.url);
  const head = [`POST ${PAGES}/${page} HTTP/1.1`, "Host: x", `Content-Type: ${type}`, framing];
  const client = connect(Number(port), hostname).on("error", () => {});
  client.write([...head, "", ""].join("\r\n"));
  const usage = () => readMetric(server, 'server_limit_usage{setting="MAX_BODY_MEMORY_BYTES"}');
  await expect.poll(usage).toBe(256 * 1024 + bytes);
  stop(server);
});

// A URL-encoded form has at most 100 KB, so it isn't streamed where larger bodies must be.
test.each(["echo", "large-form"])("if forms for %s fill their memory limit, the slowest is cut", async (page) => {
  const server = await startServer({ MAX_BODY_MEMORY_BYTES: "1000000" }, FOLDER);
  const { hostname, port } = new URL(server.url);
  const head = `POST ${PAGES}/${page} HTTP/1.1\r\nHost: x\r\n${TYPE}Content-Length: 90000\r\n\r\n`;
  const slow = connect(Number(port), hostname).on("error", () => {});
  slow.write(`${head}a`);
  const isReset = new Promise((resolve) => slow.resume().once("close", resolve));
  const form = { method: "POST", body: new URLSearchParams({ a: "a".repeat(90_000) }) };
  await expect.poll(() => readMetric(server, 'server_limit_usage{setting="MAX_BODY_MEMORY_BYTES"}')).toBeGreaterThan(0);
  expect((await fetch(`${server.url}${PAGES}/${page}`, form)).status).toBe(200);
  expect(await isReset).toBe(true);
  await expect.poll(() => readMetric(server, 'requests_shed_total{reason="slow_client"}')).toBe(1);
  stop(server);
});
