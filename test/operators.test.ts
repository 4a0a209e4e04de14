import { spawn } from "node:child_process";
import { once } from "node:events";
import autocannon from "autocannon";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { version } from "../package.json";
import { exchange } from "./support/exchange.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** The most characters of anything that a client wrote in a line of the log. */
const LONGEST_TEXT = 256;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

/** The line of a request, which is written a moment after its answer. */
async function lineOf(requestId: string, { lines }: RunningServer = server) {
  return vi.waitUntil(() => lines.find((line) => line.requestId === requestId), { timeout: 5000 });
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

async function readMetrics() {
  return parseMetrics(await (await fetch(`${server.opsUrl}/metrics`)).text());
}

test.each([
  ["GET", "/livez", 200, "ok\n"],
  ["GET", "/livez?verbose", 200, "ok\n"],
  ["HEAD", "/livez", 200, ""],
  ["POST", "/livez", 200, "ok\n"],
  ["GET", "/readyz", 200, "ready\n"],
  ["GET", "/", 404, "not found\n"],
  ["GET", "/livez/", 404, "not found\n"],
])("the operators' %s %s is answered with %d", async (method, path, status, body) => {
  const response = await fetch(server.opsUrl + path, {
    method,
    ...(method === "POST" && { body: "x".repeat(100_000) }),
  });
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(body);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("Cache-Control")).toBe("no-store");
});

test.each([
  ["no HTTP", "\x00\x01\x02\r\n\r\n"],
  ["a target that is no URL", "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["a body that never comes", "POST /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"],
])("the operators' server survives %s", async (_, bytes) => {
  const { isClosed } = await exchange(server.opsUrl, bytes);
  expect(isClosed).toBe(true);
  expect((await fetch(`${server.opsUrl}/livez`)).status).toBe(200);
});

test.each(["/livez", "/readyz", "/metrics"])("visitors asking for %s get the not-found page", async (path) => {
  const response = await fetch(server.url + path);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("Oops! Page not found");
});

test("the metrics are in Prometheus' text format: the product's, Node's and the build's", async () => {
  await fetch(server.url);
  await lineOf((await fetch(server.url)).headers.get("X-Request-Id") as string);
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

test("10,000 paths and odd methods make no more than a few label sets", async () => {
  const requests = Array.from({ length: 10_000 }, (_, i) => ({ path: `/${i.toString(36)}/${i}.php?${i}` }));
  const load = await autocannon({ url: server.url, requests, connections: 1, amount: requests.length });
  expect(load["4xx"]).toBe(requests.length);
  const methods = ["PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "M-SEARCH"];
  for (const method of methods) await fetch(server.url, { method });
  await exchange(server.url, "GET / HTTP/1.1\r\nHost: x y\r\nConnection: close\r\n\r\n");
  const metrics = await readMetrics();
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

test("start is two lines, the second with both ports and the time it took", () => {
  const [starting, ready] = server.lines;
  expect(starting).toMatchObject({ level: "info", msg: "starting", version, node: process.version });
  expect(ready).toMatchObject({ level: "info", msg: "ready", tookMs: expect.any(Number) });
  expect([ready?.port, ready?.opsPort].map(String)).toEqual([new URL(server.url).port, new URL(server.opsUrl).port]);
});

test.each([
  ["GET", "/", "/", "home", 200],
  ["HEAD", "/?secret=1", "/", "home", 200],
  ["GET", "/no/where", "/no/where", "404", 404],
  ["DELETE", "/", "/", "home", 405],
  ["GET", "/assets/none.js", "/assets/none.js", "file", 404],
])("%s %s is a line", async (method, target, path, route, status) => {
  const requestId = `line-${crypto.randomUUID()}`;
  const headers = { "X-Request-Id": requestId, "User-Agent": "Tests/1.0" };
  await (await fetch(server.url + target, { method, headers })).arrayBuffer();
  const { time, bytes, durationMs, ...line } = await lineOf(requestId);
  expect(line).toEqual({
    level: "info",
    ...{ requestId, method, path, route, status },
    client: "127.0.0.1",
    userAgent: "Tests/1.0",
    msg: "request",
  });
  expect(Math.abs(Date.now() - Date.parse(time as string))).toBeLessThan(60_000);
  expect(bytes).toBeGreaterThan(200);
  expect(durationMs).toBeGreaterThan(0);
});

test.each([
  ["control characters", "GET /a HTTP/1.1\r\nUser-Agent: b\tc\x85d\x9b[31me", "/a", "b\uFFFDc\uFFFDd\uFFFD[31me"],
  ["escaped line breaks", 'GET /%0d%0a{"level":"fatal"} HTTP/1.1\r\nUser-Agent: "}', '/%0d%0a{"level":"fatal"}', '"}'],
  ["16 KB", `GET /${"p".repeat(6000)} HTTP/1.1\r\nUser-Agent: ${"u".repeat(9000)}`, /^\/p{255}$/, /^u{256}$/],
])("%s neither break a line nor make it long", async (_, request, path, userAgent) => {
  const requestId = `odd-${crypto.randomUUID()}`;
  const rest = `\r\nHost: x\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(server.url, request + rest);
  expect(responses[0]?.status).toBe(404);
  const line = await lineOf(requestId);
  expect(line.path).toEqual(typeof path === "string" ? path : expect.stringMatching(path));
  expect(line.userAgent).toEqual(typeof userAgent === "string" ? userAgent : expect.stringMatching(userAgent));
  expect(JSON.stringify(line).length).toBeLessThan(2 * LONGEST_TEXT + 500);
});

test.each([
  ["an-id_1.2:3", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["", false],
  ["two words", false],
  ['a"b', false],
  ["a, b", false],
  ["caf\xe9", false],
])("the request id %j is taken over: %s", async (given, isTaken) => {
  const request = `GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${given}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(server.url, request);
  const answered = responses[0]?.headers["x-request-id"] as string;
  if (isTaken) expect(answered).toBe(given);
  else expect(answered).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect((await lineOf(answered)).status).toBe(200);
});

test("every answer has an id of its own", async () => {
  const paths = ["/", "/", "/no/where", "/assets/none.js", "/%"];
  const responses = await Promise.all(paths.map((path) => fetch(server.url + path)));
  expect(new Set(responses.map(({ headers }) => headers.get("X-Request-Id"))).size).toBe(paths.length);
});

test.each([
  [undefined, "203.0.113.7", "203.0.113.7"],
  [undefined, "1.1.1.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"],
  ["none", "203.0.113.7", "127.0.0.1"],
  ["192.0.2.1", "203.0.113.7", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.7, 10.0.0.1", "10.0.0.1"],
  ["loopback,203.0.113.0/24", "2001:db8::1, 203.0.113.7", "2001:db8::1"],
  ["loopback,203.0.113.0/24", "10.0.0.1, nobody", "127.0.0.1"],
])("with TRUST_PROXY=%s, the client of %j is %s", async (trust, forwarded, client) => {
  const proxied = await startServer(trust === undefined ? {} : { TRUST_PROXY: trust });
  const response = await fetch(proxied.url, { headers: { "X-Forwarded-For": forwarded } });
  expect(await lineOf(response.headers.get("X-Request-Id") as string, proxied)).toMatchObject({ client });
  await proxied.stop();
});

test("on all interfaces, an IPv4 client has an IPv4 address", async () => {
  const everywhere = await startServer({ HOST: "::" });
  const response = await fetch(everywhere.url);
  expect(await lineOf(response.headers.get("X-Request-Id") as string, everywhere)).toMatchObject({
    client: "127.0.0.1",
  });
  await everywhere.stop();
});

test.each([
  ["stalls", "pause"],
  ["goes away", "destroy"],
] as const)("a reader of the log that %s costs no visitor an answer", async (_, leave) => {
  const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0" };
  const child = spawn(process.execPath, ["build/server/index.js"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let log = "";
  while (!log.includes('"ready"')) log += String((await once(child.stdout, "data"))[0]);
  child.stdout[leave]();

  const url = `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}`;
  const load = await autocannon({ url, connections: 10, amount: 5000 });
  expect(load["2xx"]).toBe(5000);

  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
});
