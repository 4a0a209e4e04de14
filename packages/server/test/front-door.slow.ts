// What a team mounts in front of the files, on a server with all of its limits (test/site/front.ts).
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { exchange } from "./support/exchange.ts";
import { readMetric } from "./support/process-metrics.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => expect(await server.stop()).toBe(0));

async function start(env: Record<string, string>) {
  const started = await startServer(env);
  onTestFinished(() => void started.child.kill("SIGKILL"));
  return started;
}

/** Sends a request, and resolves with its response and its log line. */
async function send(path: string, init: RequestInit = {}, { url, lines } = server) {
  const id = randomUUID();
  const headers = { ...(init.headers as Record<string, string>), "X-Request-Id": id };
  const response = await fetch(url + path, { redirect: "manual", ...init, headers });
  const body = await response.text();
  const find = (msg: string) => lines.find((line) => line["http.request.id"] === id && line.msg === msg);
  await expect.poll(() => find("request")).toBeDefined();
  return { ...response, status: response.status, headers: response.headers, body, id, line: find("request"), find };
}

const chunked = (body: string) => ({ body: new Blob([body]).stream(), duplex: "half" });
const JSON_TYPE = { "Content-Type": "application/json" };
const ITEM = "/front/api/items/:id";

test.each([
  ["GET", "/front/api/items/1", 200, '{"id":"1"}', ITEM, null],
  ["HEAD", "/front/api/items/1", 200, "", ITEM, null],
  ["GET", "/FRONT/API/items/1", 200, '{"id":"1"}', ITEM, null],
  ["PUT", "/front/api/items/1", 200, '{"id":"1","a":2}', ITEM, null],
  ["DELETE", "/front/api/items/1", 405, '{"error":"method not allowed"}', ITEM, "GET, HEAD, PUT"],
  ["GET", "/front/api/nowhere", 404, '{"error":"not found"}', "/front/api", null],
  ["POST", "/front/api", 404, '{"error":"not found"}', "/front/api", null],
  ["GET", "/front/apis", 404, expect.stringContaining("<html"), "/*", null],
])("a router responds to %s %s with %i", async (method, path, status, body, route, allow) => {
  const init = method === "PUT" ? { body: '{"a":2}', headers: JSON_TYPE } : {};
  const response = await send(path, { method, ...init });
  expect([response.status, response.body, response.headers.get("Allow")]).toEqual([status, body, allow]);
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(response.line).toMatchObject({ "http.route": route, "http.response.status_code": status });
  if (status !== 404 || route !== "/*") expect(response.headers.get("X-Request-Id")).toBe(response.id);
  const labels = `http_request_method="${method}",http_response_status_code="${status}",http_route="${route}",error_type=""`;
  await expect
    .poll(() => readMetric(server, `http_server_request_duration_seconds_count{${labels}}`))
    .toBeGreaterThan(0);
});

test.each(["throws", "rejects"])(
  "a handler that %s gets the error page, and a log line with its route",
  async (name) => {
    const path = `/front/api/${name}`;
    const { status, body, headers, find, line } = await send(path);
    expect([status, body, headers.get("Content-Type")]).toEqual([
      500,
      "Internal Server Error\n",
      "text/plain; charset=utf-8",
    ]);
    expect([headers.get("Cache-Control"), headers.get("Set-Cookie")]).toEqual(["no-store", null]);
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(find("request failed")).toMatchObject({ level: "error", "exception.message": "broken", "http.route": path });
    expect(line).toMatchObject({ "http.route": path, "http.response.status_code": 500 });
    expect(line).not.toHaveProperty("error.type");
  },
);

test("a body that is no JSON gets the JSON and the route of its router, and no error is logged", async () => {
  const init = { method: "PUT", body: "{", headers: JSON_TYPE };
  const { status, body, find, line } = await send("/front/api/items/1", init);
  expect([status, find("request failed")]).toEqual([400, undefined]);
  expect(JSON.parse(body)).toEqual({ error: expect.stringContaining("JSON") });
  expect(line).toMatchObject({ "http.route": "/front/api" });
});

test.each([
  ["webhook", 100 * 1024, 200],
  ["webhook", 100 * 1024 + 1, 413],
  ["large-webhook", 300_000, 200],
  ["large-webhook", 300_001, 413],
])("a %s with %i bytes gets %i, by its length and by its chunks", async (name, bytes, status) => {
  const body = "a".repeat(bytes);
  for (const sent of [{ body }, chunked(body)]) {
    const response = await send(`/front/${name}`, { method: "POST", ...sent });
    expect([response.status, response.line?.["http.response.status_code"]]).toEqual([status, status]);
    if (status === 200) expect(response.body).toBe(JSON.stringify({ bytes }));
  }
});

test("a handler of Fetch's Request sets cookies and redirects", async () => {
  const form = { method: "POST", body: new URLSearchParams({ user: "ada" }) };
  const { status, headers, line } = await send("/front/auth/sign-in", form);
  expect([status, headers.get("Location")]).toEqual([303, "/"]);
  expect(headers.getSetCookie()).toEqual(["session=ada; HttpOnly", "hint=1"]);
  expect(headers.get("Cache-Control")).toBe("private, no-store");
  expect(line).toMatchObject({ "http.route": "/front/auth/*splat" });
  const { body } = await send("/front/auth/session?a=1", { headers: { Cookie: "session=ada" } });
  expect(JSON.parse(body)).toEqual({ cookie: "session=ada", url: `${server.url}/front/auth/session?a=1` });
});

test("tRPC's own adapter responds", async () => {
  const greeting = await send(`/front/trpc/greet?input=${encodeURIComponent('"Ada"')}`);
  expect(JSON.parse(greeting.body)).toEqual({ result: { data: "Hello Ada" } });
  const sum = await send("/front/trpc/add", { method: "POST", headers: JSON_TYPE, body: "[1,2]" });
  expect(JSON.parse(sum.body)).toEqual({ result: { data: 3 } });
  const rejected = await send("/front/trpc/greet?input=1");
  expect(rejected.status).toBe(400);
  expect(rejected.body).not.toContain("stack"); // tRPC sends it unless NODE_ENV is "production", which isn't set here.
  expect(sum.line).toMatchObject({ "http.route": "/front/trpc", "http.response.status_code": 200 });
});

test.each([
  ["www.example.org", "/a?b=1", "https://example.org/a?b=1"],
  ["www.example.org", "/robots.txt", "https://example.org/robots.txt"],
  ["example.org", "/front/old/a?b=1", "/front/new/a?b=1"],
])("%s%s redirects to %s", async (host, path, location) => {
  const bytes = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const { url } = await start({ FRONT: "apex" });
  const { responses } = await exchange(url, bytes);
  expect(responses).toMatchObject([{ status: 301, headers: { location } }]);
});

/** Starts a server that proxies to one with this listener. */
async function startProxy(listener: RequestListener) {
  const upstream = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => void upstream.close());
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  return start({ UPSTREAM: `http://127.0.0.1:${port}`, MAX_BODY_MEMORY_BYTES: "1000000" });
}

function sendFirst(url: string) {
  const sending = request(`${url}/front/proxy/echo?a=1`, { method: "POST" }).on("error", () => {});
  sending.write("first");
  return { sending, responded: once(sending, "response") as Promise<[IncomingMessage]> };
}

test("a proxy streams both ways, and notices that its client leaves", async () => {
  const cut = vi.fn();
  const { url } = await startProxy((req, res) => {
    res.writeHead(201, { "Cache-Control": "public, max-age=60", "X-Path": req.url });
    pipeline(req, res).catch(cut);
  });
  const { sending, responded } = sendFirst(url);
  const [response] = await responded;
  expect([response.statusCode, response.headers["x-path"]]).toEqual([201, "/echo?a=1"]);
  expect(response.headers).toMatchObject({
    "cache-control": "public, max-age=60",
    "x-content-type-options": "nosniff",
  });
  expect(String(await once(response, "data"))).toBe("first");
  Readable.from(Array(200).fill(Buffer.alloc(100_000))).pipe(sending);
  expect((await text(response)).length).toBe(20_000_000);
  const other = sendFirst(url);
  await other.responded;
  other.sending.destroy();
  await expect.poll(() => cut.mock.calls.length).toBe(1);
});

test("a proxy receives uploads at the same time, however large they may be", async () => {
  let started = 0;
  const { url } = await startProxy((req, res) => {
    started += 1;
    req.resume().on("end", () => res.end());
  });
  const uploads = [sendFirst(url), sendFirst(url), sendFirst(url)];
  await expect.poll(() => started).toBe(3);
  for (const { sending } of uploads) sending.end("last");
  const responses = await Promise.all(uploads.map(({ responded }) => responded));
  expect(responses.map(([{ statusCode }]) => statusCode)).toEqual([200, 200, 200]);
});

test("a proxy whose server can't be reached responds with 502", async () => {
  const { status } = await send("/front/proxy/");
  expect(status).toBe(502);
});

const AUTHORIZATION = `Basic ${btoa("ada:secret")}`;
const PATHS = ["/", "/nowhere", "/robots.txt", "/film.mp4", "/example-pages/notes/1", "/example-pages/kept-clock"];

test("with basic auth in front, nothing is sent without it, and nothing that shared caches may store", async () => {
  const { url } = await start({ FRONT: "basic-auth" });
  for (const path of [...PATHS, "/assets/nowhere.js", "/front/api/items/1"]) {
    const { status, headers } = await fetch(url + path);
    expect([status, headers.get("WWW-Authenticate")]).toEqual([401, 'Basic realm="site"']);
    const signedIn = await fetch(url + path, { method: "HEAD", headers: { Authorization: AUTHORIZATION } });
    expect([200, 404]).toContain(signedIn.status);
    expect([path, signedIn.headers.get("Cache-Control")]).toEqual([path, expect.stringMatching(/private|no-store/)]);
  }
});

test("a response with a cookie of the front isn't for shared caches", async () => {
  const { url } = await start({ FRONT: "cookie" });
  for (const path of PATHS) {
    const { headers } = await fetch(url + path, { method: "HEAD" });
    expect(headers.getSetCookie()).toEqual(["variant=b; Path=/"]);
    const isRendered = path.endsWith("/notes/1");
    expect([path, headers.get("Cache-Control")]).toEqual([path, `private, ${isRendered ? "no-store" : "no-cache"}`]);
  }
});

test("headers of the front stay on every response, and Vary has all values", async () => {
  const { url } = await start({ FRONT: "headers" });
  for (const path of [...PATHS, "/assets/nowhere.js", "/front/api/throws", "/example-pages/broken/loader"]) {
    const { headers } = await fetch(url + path, { headers: { "Accept-Encoding": "identity" } });
    const values = ["X-Frame-Options", "X-Variant", "Vary"].map((name) => headers.get(name));
    expect([path, ...values]).toEqual([
      path,
      "SAMEORIGIN",
      "b",
      expect.stringMatching(/^X-Experiment(, Accept-Encoding)?$/),
    ]);
  }
});

test("in maintenance, every request gets 503, and probes succeed", async () => {
  const { url, opsUrl, lines } = await start({ FRONT: "maintenance" });
  for (const path of PATHS) {
    const { status, headers } = await fetch(url + path);
    expect([status, headers.get("Retry-After")]).toEqual([503, "120"]);
  }
  expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a handler that hangs gets 503 at HANDLER_TIMEOUT_MS, which is counted and logged", async () => {
  const hanging = await start({ HANDLER_TIMEOUT_MS: "500" });
  const path = "/front/api/hangs";
  const { status, body, find, line } = await send(path, {}, hanging);
  expect([status, body]).toEqual([503, "Service Unavailable\n"]);
  expect(find("request failed")).toMatchObject({
    "exception.message": "no response within 500 ms",
    "http.route": path,
  });
  expect(line).toMatchObject({ "http.route": path, "http.response.status_code": 503 });
  await expect.poll(() => readMetric(hanging, 'requests_shed_total{reason="timeout"}')).toBe(1);
});

test("a handler in front that hangs for all values of a parameter leaves slots for other routes", async () => {
  const hanging = await start({ MAX_CONCURRENT_REQUESTS: "16" });
  const left = new AbortController();
  const names = Array.from({ length: 60 }, (_, index) => `Zo%C3%AB-${index}/orders`);
  const requests = names.map((name) => fetch(`${hanging.url}/front/tenants/${name}`, { signal: left.signal }));
  await expect
    .poll(() => readMetric(hanging, 'server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"}'))
    .toBeGreaterThan(8);
  expect((await send("/front/api/items/1", {}, hanging)).status).toBe(200);
  left.abort();
  await Promise.allSettled(requests);
});

test("a request whose client leaves during a handler is logged without a status", async () => {
  await fetch(`${server.url}/front/api/hangs?left`, { signal: AbortSignal.timeout(200) }).catch(() => {});
  const find = () => server.lines.find((line) => line["error.type"] === "aborted" && line.msg === "request");
  await expect.poll(find).toMatchObject({ "http.route": "/front/api/hangs" });
  expect(find()).not.toHaveProperty("http.response.status_code");
});

test("while a slow body fills MAX_BODY_MEMORY_BYTES, others are sent; it is cut when the next body waits", async () => {
  const bounded = await start({ MAX_BODY_MEMORY_BYTES: "4000000" });
  const { hostname, port } = new URL(bounded.url);
  const slow = connect(Number(port), hostname).resume();
  slow.on("error", () => {});
  slow.write("POST /front/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 90000\r\n\r\na");
  const closed = new Promise((resolve) => slow.once("close", resolve));
  const readUsage = () => readMetric(bounded, 'server_limit_usage{setting="MAX_BODY_MEMORY_BYTES"}');
  await expect.poll(readUsage).toBeGreaterThan(3_000_000);
  for (const path of ["/", "/robots.txt", "/front/api/items/1"]) {
    expect((await fetch(bounded.url + path)).status).toBe(200);
  }
  const post = () => send("/front/webhook", { method: "POST", body: "a".repeat(90_000) }, bounded);
  expect((await Promise.all([post(), post(), post()])).map(({ status }) => status)).toEqual([200, 200, 200]);
  await closed;
  await expect.poll(() => readMetric(bounded, 'requests_shed_total{reason="slow_client"}')).toBe(1);
});

test("middleware behind admit runs for rendered requests only", async () => {
  const { url } = await start({ FRONT: "headers" });
  const find = async (path: string) => (await fetch(url + path, { method: "HEAD" })).headers.get("X-Rendered");
  const others = ["/", "/nowhere", "/robots.txt", "/film.mp4", "/front/api/items/1"];
  expect(await Promise.all(others.map(find))).toEqual(others.map(() => null));
  expect(await Promise.all(["/example-pages/notes/1", "/example-pages/me"].map(find))).toEqual(["1", "1"]);
});

test("a loader gets the values that middleware has set for it", async () => {
  const { body } = await send("/example-pages/client");
  expect(JSON.parse(body)).toEqual({ client: expect.stringContaining("127.0.0.1") });
});

test.each([
  ["https://other.example", "/front/webhook", 403],
  ["https://other.example", "/front/open", 200],
  ["https://other.example", "/example-pages/echo", 403],
])("with Origin: %s, a POST to %s gets %i", async (origin, path, status) => {
  const form = { method: "POST", body: new URLSearchParams({ a: "b" }), headers: { Origin: origin } };
  expect((await send(path, form)).status).toBe(status);
});

const usage = (running: RunningServer, setting: string) =>
  readMetric(running, `server_limit_usage{setting="${setting}"}`);

test("a handler in front takes a slot as a page does, and what waits for longer than 5 s gets 503", async () => {
  const limited = await start({ MAX_CONCURRENT_REQUESTS: "1" });
  const controller = new AbortController();
  fetch(`${limited.url}/front/wait/60000`, { signal: controller.signal }).catch(() => {});
  await expect.poll(() => usage(limited, "MAX_CONCURRENT_REQUESTS")).toBe(1);
  expect((await send("/front/wait/0", {}, limited)).status).toBe(503);
  controller.abort();
  expect((await send("/front/wait/0", {}, limited)).status).toBe(200);
  await expect.poll(() => usage(limited, "MAX_CONCURRENT_REQUESTS")).toBe(0);
});

test("a request that a handler in front passes on takes one slot, not two", async () => {
  const limited = await start({ MAX_CONCURRENT_REQUESTS: "1", ORIGIN: "https://www.example.org" });
  // Too long for the page cache, so `admit` gets it a second time.
  expect((await send(`/front/files/${"a".repeat(2100)}`, {}, limited)).status).toBe(404);
  await expect.poll(() => usage(limited, "MAX_CONCURRENT_REQUESTS")).toBe(0);
});

test("a long head to a handler in front counts against the memory of bodies", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  fetch(`${server.url}/front/wait/60000`, { headers: { "X-Long": "a".repeat(5000) }, signal }).catch(() => {});
  await expect.poll(() => usage(server, "MAX_BODY_MEMORY_BYTES")).toBe(256 * 1024);
  controller.abort();
  await expect.poll(() => usage(server, "MAX_BODY_MEMORY_BYTES")).toBe(0);
});

test("event streams in front have their own limit, and requests of their pattern wait for it", async () => {
  const limited = await start({ MAX_CONCURRENT_REQUESTS: "1", MAX_OPEN_RESPONSES: "1" });
  // The test holds the response: Node's `fetch` cancels one that is garbage-collected.
  const first = await fetch(`${limited.url}/front/ticks`);
  expect([first.status, await usage(limited, "MAX_OPEN_RESPONSES")]).toEqual([200, 1]);
  const second = fetch(`${limited.url}/front/ticks`).then(({ status }) => status);
  expect((await send("/front/wait/0", {}, limited)).status).toBe(200);
  expect(await second).toBe(503);
  await first.body?.cancel();
  await expect.poll(() => usage(limited, "MAX_OPEN_RESPONSES")).toBe(0);
});
