import { once } from "node:events";
import autocannon from "autocannon";
import { vi } from "vitest";
import { version } from "../package.json";
import { exchange } from "./support/exchange.ts";
import { expect, test } from "./support/fixtures.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** Of anything that a client wrote, in characters, in a line of the log. */
const MAX_TEXT_LENGTH = 256;

/** The line of a request, which is written a moment after its response. */
function lineOf({ lines }: RunningServer, requestId: string | null | undefined) {
  return vi.waitUntil(() => lines.find((line) => line.requestId === requestId), { timeout: 60_000 });
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
  ["GET", "/", 404, "not found\n"],
  ["GET", "/livez/", 404, "not found\n"],
])("the operators' %s %s has status %d", async ([method, path, status, body], { server }) => {
  const response = await fetch(server.opsUrl + path, {
    method,
    ...(method === "POST" && { body: "x".repeat(100_000) }),
  });
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(body);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("Cache-Control")).toBe("no-store");
});

test.for([
  ["no HTTP", "\x00\x01\x02\r\n\r\n"],
  ["a target that is no URL", "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["a body that never comes", "POST /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"],
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
  await lineOf(server, (await fetch(server.url)).headers.get("X-Request-Id"));
  const response = await fetch(`${server.opsUrl}/metrics`);
  expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const metrics = parseMetrics(await response.text());
  const labels = 'route="home",method="GET",status="2xx"';
  const total = metrics.get(`http_request_duration_seconds_count{${labels}}`);
  expect(total).toBeGreaterThanOrEqual(2);
  expect(metrics.get(`http_request_duration_seconds_bucket{le="+Inf",${labels}}`)).toBe(total);
  expect(metrics.get(`http_request_duration_seconds_sum{${labels}}`)).toBeGreaterThan(0);
  expect(metrics.get(`app_build_info{version="${version}",revision="unknown"}`)).toBe(1);
  expect(metrics.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect([...metrics.keys()].some((name) => name.startsWith("nodejs_eventloop_lag"))).toBe(true);
});

test("10,000 paths and odd methods make no more than a few label sets", async ({ server }) => {
  const toRequest = (i: number) => `GET /${i.toString(36)}/${i}.php?${i} HTTP/1.1\r\nHost: x\r\n`;
  for (let i = 0; i < 10_000; i += 25) {
    const requests = Array.from({ length: 25 }, (_, j) => toRequest(i + j)).join("\r\n");
    const { responses } = await exchange(server.url, `${requests}Connection: close\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual(Array(25).fill(404));
  }
  const methods = ["PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "M-SEARCH"];
  for (const method of methods) await fetch(server.url, { method });
  await exchange(server.url, "GET / HTTP/1.1\r\nHost: x y\r\nConnection: close\r\n\r\n");
  const metrics = parseMetrics(await (await fetch(`${server.opsUrl}/metrics`)).text());
  const series = [...metrics.keys()].filter((name) => name.startsWith("http_request_duration_seconds_count"));
  expect(
    metrics.get('http_request_duration_seconds_count{route="404",method="GET",status="4xx"}'),
  ).toBeGreaterThanOrEqual(10_000);
  expect(metrics.get('http_request_duration_seconds_count{route="home",method="other",status="4xx"}')).toBe(
    methods.length,
  );
  expect(metrics.get('http_request_duration_seconds_count{route="none",method="GET",status="4xx"}')).toBe(1);
  expect(series.length).toBeLessThanOrEqual(5);
});

test("start is two lines, the second with both ports and the time it took", ({ server }) => {
  const [starting, ready] = server.lines;
  expect(starting).toMatchObject({ level: "info", msg: "starting", version, node: process.version });
  expect(ready).toMatchObject({ level: "info", msg: "ready", tookMs: expect.any(Number) });
  expect([ready?.port, ready?.opsPort].map(String)).toEqual([new URL(server.url).port, new URL(server.opsUrl).port]);
});

test.for<[string, string, string, string, number]>([
  ["GET", "/", "/", "home", 200],
  ["HEAD", "/?secret=1", "/", "home", 200],
  ["GET", "/no/where", "/no/where", "404", 404],
  ["DELETE", "/", "/", "home", 405],
  ["GET", "/assets/none.js", "/assets/none.js", "file", 404],
])("%s %s is a line", async ([method, target, path, route, status], { server }) => {
  const startedAt = Date.now();
  const requestId = `line-${crypto.randomUUID()}`;
  const headers = { "X-Request-Id": requestId, "User-Agent": "Tests/1.0" };
  await (await fetch(server.url + target, { method, headers })).arrayBuffer();
  const { time, bytes, durationMs, ...line } = await lineOf(server, requestId);
  expect(line).toEqual({
    level: "info",
    ...{ requestId, method, path, route, status },
    client: "127.0.0.1",
    userAgent: "Tests/1.0",
    msg: "request",
  });
  expect(Date.parse(time as string)).toBeGreaterThanOrEqual(startedAt);
  expect(Date.parse(time as string)).toBeLessThanOrEqual(Date.now());
  expect(bytes).toBeGreaterThan(200);
  expect(durationMs).toBeGreaterThan(0);
});

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
  expect(line.path).toEqual(typeof path === "string" ? path : expect.stringMatching(path));
  expect(line.userAgent).toEqual(typeof userAgent === "string" ? userAgent : expect.stringMatching(userAgent));
  expect(JSON.stringify(line).length).toBeLessThan(2 * MAX_TEXT_LENGTH + 500);
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
  const request = `GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${given}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(server.url, request);
  const id = responses[0]?.headers["x-request-id"];
  if (isTaken) expect(id).toBe(given);
  else expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect((await lineOf(server, id)).status).toBe(200);
});

test("every response has an id of its own", async ({ server }) => {
  const paths = ["/", "/", "/no/where", "/assets/none.js", "/%"];
  const responses = await Promise.all(paths.map((path) => fetch(server.url + path)));
  expect(new Set(responses.map(({ headers }) => headers.get("X-Request-Id"))).size).toBe(paths.length);
});

test("on all interfaces, an IPv4 client has an IPv4 address", async () => {
  const server = await startServer({ HOST: "::" });
  const response = await fetch(server.url);
  expect(await lineOf(server, response.headers.get("X-Request-Id"))).toMatchObject({ client: "127.0.0.1" });
  await server.stop();
});

test.for([
  { event: "stalls", leave: "pause" },
  { event: "goes away", leave: "destroy" },
] as const)("a reader of the log that $event costs no client a response", async ({ leave }) => {
  const { url, child } = await startServer();
  child.stdout[leave]();
  const load = await autocannon({ url, connections: 10, amount: 5000 });
  expect(load["2xx"]).toBe(5000);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
