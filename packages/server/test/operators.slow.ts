import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { connect } from "node:net";
import { hostname } from "node:os";
import { findFreePort } from "react-router-express-server/testing";
import { vi } from "vitest";
import { version } from "./site/package.json";
import { exchange } from "./support/exchange.ts";
import { expect, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, SERVER_ENV, startServer } from "./support/start-server.ts";

/** The maximum length, in characters, of a client's text in a log line, such as the path. */
const MAX_TEXT_LENGTH = 256;

// Its services are ready, even if the project's own aren't.
/** The line of a request. It is written after the response. */
function lineOf({ lines }: RunningServer, requestId: string | null | undefined) {
  return vi.waitUntil(() => lines.find((line) => line["http.request.id"] === requestId), { timeout: 60_000 });
}

/** The samples of a page of metrics, by name and labels. Throws at what isn't in Prometheus' text format. */
function parseMetrics(text: string) {
  const samples = text
    .split("\n")
    .filter((line) => line !== "" && !/^# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram|summary))$/.test(line))
    .map((line) => {
      const parts = /^([a-z_]\w*(?:\{(?:[a-z]\w*="[^"\\]*",?)*\})?) ([-+]?(?:[\d.]+(?:e[-+]?\d+)?|Inf)|Nan)$/i.exec(
        line,
      );
      if (!parts) throw new Error(`not a sample: ${line}`);
      return [parts[1] as string, Number(parts[2])] as const;
    });
  expect(new Set(samples.map(([name]) => name)).size).toBe(samples.length);
  return new Map(samples);
}

test.for<[string, string, number, string]>([
  ["GET", "/livez", 200, "ok\n"],
  ["GET", "/livez?verbose", 200, "ok\n"],
  ["HEAD", "/livez", 200, ""],
  ["POST", "/livez", 200, "ok\n"],
  ["GET", "/readyz", 200, "ready\n"],
  ["POST", "/", 405, "method not allowed\n"],
  ["GET", "/livez/", 404, "not found: / describes this process\n"],
])("%s %s on the operators' port has status %d", async ([method, path, status, body], { server }) => {
  const response = await fetch(server.opsUrl + path, {
    method,
    ...(method === "POST" && { body: "x".repeat(100_000) }),
  });
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(body);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("Cache-Control")).toBe("no-store");
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
});

test.for([
  ["no HTTP", "\x00\x01\x02\r\n\r\n"],
  ["a target that is no URL", "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["a body that never comes", "POST /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"],
  [
    "a form that never comes",
    "POST /cache/invalidate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
      "Content-Length: 9\r\n\r\n",
  ],
])("the operators' server survives %s", async ([_, bytes = ""], { server }) => {
  const { isClosed } = await exchange(server.opsUrl, bytes);
  expect(isClosed).toBe(true);
  expect((await fetch(`${server.opsUrl}/livez`)).status).toBe(200);
});

test.for(["/livez", "/readyz", "/metrics"])("%s of the public port is not found", async (path, { server }) => {
  const response = await fetch(server.url + path);
  expect(response.status).toBe(404);
  expect(await response.text()).toBe(await (await fetch(`${server.url}/no/where`)).text());
});

test("the metrics are in Prometheus' text format: the product's, Node's and the build's", async ({ server }) => {
  await fetch(server.url);
  const requestId = crypto.randomUUID();
  await fetch(server.url, { headers: { "X-Request-Id": requestId } });
  await lineOf(server, requestId);
  const response = await fetch(`${server.opsUrl}/metrics`);
  expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const metrics = parseMetrics(await response.text());
  const labels = 'http_request_method="GET",http_response_status_code="200",http_route="/",error_type=""';
  const total = metrics.get(`http_server_request_duration_seconds_count{${labels}}`);
  expect(total).toBeGreaterThanOrEqual(2);
  expect(metrics.get(`http_server_request_duration_seconds_bucket{le="+Inf",${labels}}`)).toBe(total);
  expect(metrics.get(`http_server_request_duration_seconds_sum{${labels}}`)).toBeGreaterThan(0);
  expect(metrics.get(`app_build_info{version="${version}",revision="unknown"}`)).toBe(1);
  expect(metrics.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect([...metrics.keys()].some((name) => name.startsWith("nodejs_eventloop_lag"))).toBe(true);
});

const REQUESTS = "http_server_request_duration_seconds_count";

/** A count of requests, as Prometheus has it. */
function toSeries(method: string, status: number | "", route: string, errorType = "") {
  const labels = {
    http_request_method: method,
    http_response_status_code: status,
    http_route: route,
    error_type: errorType,
  };
  const list = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${REQUESTS}{${list}}`;
}

test("series are there before the first request", async () => {
  const server = await startServer();
  const metrics = parseMetrics(await (await fetch(`${server.opsUrl}/metrics`)).text());
  await server.stop();
  const expected = [
    ...["/", "/*", "file"].flatMap((route) => [toSeries("GET", 200, route), toSeries("GET", 500, route)]),
    ...[400, 405, 408, 413, 431].map((status) => `http_parser_rejections_total{status="${status}"}`),
    ...["limit", "stalled", "idle", "pipelined"].map((reason) => `connections_dropped_total{reason="${reason}"}`),
    ...["queue", "slow_client", "timeout"].map((reason) => `requests_shed_total{reason="${reason}"}`),
    ...["hit", "stale", "miss"].map((result) => `page_cache_requests_total{result="${result}",http_route="/"}`),
    "page_cache_evictions_total",
    ...["not_cacheable", "invalidated", "failed"].map((result) => `page_cache_renders_total{result="${result}"}`),
    ...["log_lines_dropped_total", "http_server_active_requests", "http_server_open_connections"],
  ];
  expect(expected.map((series) => [series, metrics.get(series)])).toEqual(expected.map((series) => [series, 0]));
});

test("10,000 paths and odd methods make no more than a few label sets", async ({ server }) => {
  const toRequest = (i: number) => `GET /_${i.toString(36)}/${i}.php?${i} HTTP/1.1\r\nHost: x\r\n`;
  for (let i = 0; i < 10_000; i += 25) {
    const requests = Array.from({ length: 25 }, (_, j) => toRequest(i + j)).join("\r\n");
    const { responses } = await exchange(server.url, `${requests}Connection: close\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual(Array(25).fill(404));
  }
  const methods = ["PUT", "DELETE", "PATCH", "OPTIONS"];
  const unknownMethods = ["PROPFIND", "M-SEARCH"];
  for (const method of [...methods, ...unknownMethods]) await fetch(server.url, { method });
  await exchange(server.url, "GET / HTTP/1.1\r\nHost: x y\r\nConnection: close\r\n\r\n");
  const metrics = parseMetrics(await (await fetch(`${server.opsUrl}/metrics`)).text());
  expect(metrics.get(toSeries("GET", 404, "/*"))).toBeGreaterThanOrEqual(10_000);
  for (const method of methods) expect(metrics.get(toSeries(method, 405, "/"))).toBe(1);
  expect(metrics.get(toSeries("_OTHER", 405, "/"))).toBe(unknownMethods.length);
  expect(metrics.get(toSeries("GET", 400, ""))).toBe(1);
  const requested = [...metrics].filter(([name, value]) => name.startsWith(REQUESTS) && value > 0);
  expect(requested.length).toBeLessThanOrEqual(methods.length + 4);
});

/** Lines of several processes and releases are told apart by these. */
const PROCESS_FIELDS = {
  "service.version": version,
  "vcs.ref.head.revision": "unknown",
  "host.name": hostname(),
  "process.pid": expect.any(Number),
};

test("every line names release, commit, host and process", async () => {
  const { url, child, lines, stop } = await startServer({ POSTS: "down" });
  await (await fetch(`${url}/example-pages/posts/1`)).text();
  expect(await stop()).toBe(0);
  const messages = ["starting", "ready", "page not rendered", "request", "stopped"];
  expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(messages));
  const fields = { ...PROCESS_FIELDS, "process.pid": child.pid };
  expect(lines).toEqual(lines.map(() => expect.objectContaining(fields)));
});

test("a start is two log lines, the second with both ports and the duration", ({ server }) => {
  const [starting, ready] = server.lines;
  expect(starting).toMatchObject({ level: "info", msg: "starting", "service.version": version });
  expect(starting).toHaveProperty("acceptsCrossOrigin", ["/example-pages/log-in-callback"]);
  expect(ready).toMatchObject({ level: "info", msg: "ready", tookMs: expect.any(Number) });
  expect([ready?.port, ready?.opsPort].map(String)).toEqual([new URL(server.url).port, new URL(server.opsUrl).port]);
});

test.for<[string, string, string, string, number]>([
  ["GET", "/", "/", "/", 200],
  ["HEAD", "/?secret=1", "/", "/", 200],
  ["GET", "/no/where", "/no/where", "/*", 404],
  ["DELETE", "/", "/", "/", 405],
  ["GET", "/assets/none.js", "/assets/none.js", "file", 404],
])("%s %s logs one line: path %s, route %s, status %d", async ([method, target, path, route, status], { server }) => {
  const startedAt = Date.now();
  const requestId = `line-${crypto.randomUUID()}`;
  const headers = { "X-Request-Id": requestId, "User-Agent": "Tests/1.0" };
  await (await fetch(server.url + target, { method, headers })).arrayBuffer();
  const line = await lineOf(server, requestId);
  expect(line).toEqual({
    time: expect.any(String),
    level: "info",
    msg: "request",
    ...PROCESS_FIELDS,
    "http.request.id": requestId,
    "http.request.method": method,
    "url.path": path,
    "http.route": route,
    "http.response.status_code": status,
    "http.response.size": expect.any(Number),
    "http.server.request.duration": expect.any(Number),
    "client.address": "127.0.0.1",
    "user_agent.original": "Tests/1.0",
  });
  expect(Date.parse(line.time as string)).toBeGreaterThanOrEqual(startedAt);
  expect(Date.parse(line.time as string)).toBeLessThanOrEqual(Date.now());
  expect(line["http.response.size"]).toBeGreaterThan(200);
  expect(line["http.server.request.duration"]).toBeGreaterThan(0);
});

test.for([
  ["before it has a head", "/example-pages/slow", undefined],
  ["after its head", "/example-pages/ticks", 200],
] as const)(
  "a response that is aborted %s is logged and counted as aborted",
  async ([_when, path, status], { server }) => {
    const requestId = crypto.randomUUID();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.resume().write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${requestId}\r\n\r\n`);
    const isLoading = () => server.lines.some(({ msg }) => msg === "loading the slow page");
    await expect.poll(() => (status ? socket.bytesRead > 0 : isLoading())).toBe(true);
    socket.destroy();
    const line = await lineOf(server, requestId);
    expect(line).toMatchObject({ "error.type": "aborted", "client.address": "127.0.0.1" });
    expect(line["http.response.status_code"]).toBe(status);
    const series = toSeries("GET", status ?? "", path, "aborted");
    // Metrics are rendered once a second.
    await expect
      .poll(async () => parseMetrics(await (await fetch(`${server.opsUrl}/metrics`)).text()).get(series))
      .toBe(1);
  },
);

test.for<[string, string, string | RegExp, string | RegExp]>([
  ["control characters", "GET /a HTTP/1.1\r\nUser-Agent: b\tc\x85d\x9b[31me", "/a", "b\uFFFDc\uFFFDd\uFFFD[31me"],
  ["escaped line breaks", 'GET /%0d%0a{"level":"fatal"} HTTP/1.1\r\nUser-Agent: "}', '/%0d%0a{"level":"fatal"}', '"}'],
  ["16 KB", `GET /${"p".repeat(6000)} HTTP/1.1\r\nUser-Agent: ${"u".repeat(9000)}`, /^\/p{255}$/, /^u{256}$/],
])("%s neither break a line nor make it long", async ([_, request, path, userAgent], { server }) => {
  const requestId = `odd-${crypto.randomUUID()}`;
  const rest = `\r\nHost: x\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(server.url, request + rest);
  expect(responses[0]?.status).toBe(404);
  const line = await lineOf(server, requestId);
  expect(line["url.path"]).toEqual(typeof path === "string" ? path : expect.stringMatching(path));
  expect(line["user_agent.original"]).toEqual(
    typeof userAgent === "string" ? userAgent : expect.stringMatching(userAgent),
  );
  expect(JSON.stringify(line).length).toBeLessThan(2 * MAX_TEXT_LENGTH + 600);
});

test.for<[string, boolean]>([
  ["an-id_1.2:3", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["", false],
  ["two words", false],
  ['a"b', false],
  ["a, b", false],
  ["caf\xe9", false],
])("the request id %j is taken over: %s", async ([given, isTaken], { server }) => {
  const request = `POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${given}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(server.url, request);
  const id = responses[0]?.headers["x-request-id"];
  if (isTaken) expect(id).toBe(given);
  else expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect((await lineOf(server, id))["http.response.status_code"]).toBe(405);
});

test("requests without an id get one each", async ({ server }) => {
  const responses = await Promise.all(Array.from({ length: 5 }, () => fetch(server.url, { method: "POST" })));
  expect(new Set(responses.map(({ headers }) => headers.get("X-Request-Id"))).size).toBe(5);
});

test.for<[string, string, string, string, boolean]>([
  ["a cached page", "GET", "/example-pages/about", "public, max-age=0, s-maxage", false],
  ["the not-found page", "GET", "/no/where", "public, max-age=0, s-maxage", false],
  ["a file", "GET", "/robots.txt", "public", false],
  ["a large file", "HEAD", "/film.mp4", "public", false],
  ["a private page", "GET", "/example-pages/notes/1", "private", true],
  ["a page's own 404", "GET", "/example-pages/broken/not-found", "private", true],
  ["a bug", "GET", "/example-pages/broken/loader", "private", true],
  ["a missing asset", "GET", "/assets/none.js", "no-store", true],
  ["a wrong method", "POST", "/", "no-store", true],
])(
  "%s (%s %s): the request id is in the log, and in the response unless shared caches may store it",
  async ([_what, method, path, cacheControl, isSent], { server }) => {
    const requestId = crypto.randomUUID();
    const response = await fetch(server.url + path, { method, headers: { "X-Request-Id": requestId } });
    await response.arrayBuffer();
    expect(response.headers.get("Cache-Control")).toContain(cacheControl);
    expect(response.headers.get("X-Request-Id")).toBe(isSent ? requestId : null);
    expect(await lineOf(server, requestId)).toMatchObject({ msg: expect.any(String) });
  },
);

test("a 304 has no request id", async ({ server }) => {
  const headers = { "If-None-Match": (await fetch(server.url)).headers.get("ETag") ?? "" };
  const response = await fetch(server.url, { headers });
  expect([response.status, response.headers.get("X-Request-Id")]).toEqual([304, null]);
});

test.for([
  ["/example-pages/about", ["request"]],
  ["/example-pages/broken/loader", ["render failed", "request"]],
  ["/assets/none.js", ["request"]],
] as const)("every line of a request for %s has the id of its trace", async ([path, messages], { server }) => {
  const traceId = crypto.randomUUID().replaceAll("-", "");
  const send = (traceparent: string) => fetch(server.url + path, { headers: { traceparent } });
  await send(`00-${traceId}-00f067aa0ba902b7-01`);
  await send(`00-${traceId}-0000000000000000-01`);
  const findMessages = () => server.lines.filter((line) => line.trace_id === traceId).map(({ msg }) => msg);
  await expect.poll(findMessages).toEqual(messages);
});

test("without a valid traceparent, a line has no trace", async ({ server }) => {
  const requestId = crypto.randomUUID();
  await fetch(server.url, { headers: { "X-Request-Id": requestId, traceparent: "00-1-2-3" } });
  expect(await lineOf(server, requestId)).not.toHaveProperty("trace_id");
});

test("the log has the IPv4 address of a client if the server listens on all interfaces", async () => {
  const server = await startServer({ HOST: "::" });
  const requestId = crypto.randomUUID();
  await fetch(server.url, { headers: { "X-Request-Id": requestId } });
  expect(await lineOf(server, requestId)).toMatchObject({ "client.address": "127.0.0.1" });
  await server.stop();
});

/** How many lines of the log were lost. */
async function countLost(opsUrl: string) {
  return parseMetrics(await (await fetch(`${opsUrl}/metrics`)).text()).get("log_lines_dropped_total");
}

test("log lines are counted as dropped while the disk is full", async () => {
  const opsPort = await findFreePort();
  const env = { ...SERVER_ENV, OPS_PORT: String(opsPort) };
  const child = spawn(process.execPath, [`${SITE}/build/server/index.js`], {
    env,
    stdio: ["ignore", openSync("/dev/full", "w"), "inherit"],
  });
  await expect.poll(() => countLost(`http://127.0.0.1:${opsPort}`).catch(() => {})).toBeGreaterThanOrEqual(2); // Those of the start.
  child.kill();
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("log lines are counted as dropped after their reader has gone", async () => {
  const server = await startServer();
  await once(server.child.stdout.destroy(), "close");
  for (let i = 0; i < 3; i++) await fetch(server.url);
  await expect.poll(() => countLost(server.opsUrl)).toBeGreaterThanOrEqual(3);
  expect(await server.stop()).toBe(0);
});
