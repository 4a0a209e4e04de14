import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ODD_PATHS } from "./odd-paths.ts";
import { exchange } from "./support/exchange.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** With the example pages, since both pages of the project are cached. */
const FOLDER = SITE;

let server: RunningServer;
let home: string;

beforeAll(async () => {
  server = await startServer({}, FOLDER);
  home = await (await fetch(server.url)).text();
});

afterAll(() => server.stop());

// After each request, the next client gets the page.
afterEach(async () => {
  const response = await fetch(server.url);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(home);
});

const ASSET = `/assets/${readdirSync(`${FOLDER}/build/client/assets`).find((name) => name.endsWith(".js"))}`;
/** A page that is rendered for each request, with status 404. */
const RENDERED = "/example-pages/notes/3";
const EVERY_KIND = ["/", "/unknown", RENDERED, "/favicon.ico", ASSET, "/assets/unknown.js"];

const CRLF = "\r\n";
const HOST = "Host: localhost";
const CLOSE = "Connection: close";

/** A request of the given lines. */
const lines = (...all: string[]) => [...all, "", ""].join(CRLF);
/** An otherwise well-formed request with the given target and headers. */
const get = (target: string, ...headers: string[]) => lines(`GET ${target} HTTP/1.1`, HOST, CLOSE, ...headers);
const withMethod = (method: string, target: string) => lines(`${method} ${target} HTTP/1.1`, HOST, CLOSE);
const withHosts = (target: string, ...hosts: string[]) =>
  lines(`GET ${target} HTTP/1.1`, CLOSE, ...hosts.map((host) => `Host: ${host}`));
const times = (count: number, toLine: (index: number) => string) => Array.from({ length: count }, (_, i) => toLine(i));

/** Sends bytes, and reads all responses until the server closes the connection. */
async function sendAll(bytes: string) {
  const { responses, isClosed } = await exchange(server.url, bytes);
  expect(isClosed).toBe(true);
  return { responses, statuses: responses.map(({ status }) => status) };
}

/** Sends a request over a connection that the server closes after its response. */
async function send(request: string) {
  const { responses } = await sendAll(request);
  expect(responses).toHaveLength(1);
  return responses[0] as (typeof responses)[0];
}

/** Sends a request, and waits for its log line. Lines are in order, so all earlier lines are there, too. */
async function readLog() {
  const path = `/logged-${server.lines.length}`;
  await send(get(path));
  await expect.poll(() => server.lines.some((line) => line["url.path"] === path)).toBe(true);
  return server.lines;
}

// The request line and Host.

test.each([
  ["an absolute-form target", 200, lines("GET http://other/ HTTP/1.1", HOST, CLOSE)],
  ["an absolute-form target without a path", 200, lines("GET http://other HTTP/1.1", HOST, CLOSE)],
  ["an absolute-form target with only a query", 200, lines("GET https://other?q HTTP/1.1", HOST, CLOSE)],
  ["an absolute-form target of an unknown path", 404, lines("GET http://other/x HTTP/1.1", HOST, CLOSE)],
  ["an absolute-form target and an invalid Host", 400, lines("GET http://other/ HTTP/1.1", "Host: a b", CLOSE)],
  ["an absolute-form target with a malformed host", 400, lines("GET http://u@other/ HTTP/1.1", HOST, CLOSE)],
  ["an absolute-form target of another scheme", 400, lines("GET ftp://other/ HTTP/1.1", HOST, CLOSE)],
  ["HTTP/1.0 without Host", 200, lines("GET / HTTP/1.0")],
  ["HTTP/1.0 without Host, on a rendered page", 404, lines(`GET ${RENDERED} HTTP/1.0`)],
  ["HTTP/1.1 without Host", 400, lines("GET / HTTP/1.1", CLOSE)],
  ["an empty Host", 200, withHosts("/", "")],
  ["an empty Host, on a rendered page", 404, withHosts(RENDERED, "")],
  ["an IPv6 Host", 200, withHosts("/", "[::1]:3000")],
])("%s gets %i", async (_label, status, request) => {
  expect((await send(request)).status).toBe(status);
});

test("the host of an absolute-form target replaces the Host header", async () => {
  const head = ["POST http://other/example-pages/echo HTTP/1.1", HOST, CLOSE, "Origin: http://other"];
  const form = lines(...head, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 3");
  expect((await send(`${form}a=1`)).status).toBe(200);
});

test.each([
  [["a b"]],
  [["a\tb"]],
  [["[bad"]],
  [["[::1"]],
  [["x:99999999"]],
  [["x:y"]],
  [["u@x"]],
  [["x/y"]],
  [["x?y"]],
  [["x#y"]],
  [['"x"']],
  [["<x>"]],
  [["\xff"]],
  [["%zz"]],
  [["localhost", "other"]],
  [["localhost", "localhost"]],
  [["localhost", ""]],
  [["", ""]],
])("Host %j gets 400, whatever the path", async (hosts) => {
  for (const target of EVERY_KIND) expect((await send(withHosts(target, ...hosts))).status).toBe(400);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"])(
  "%s gets 405, whatever the path",
  async (method) => {
    for (const target of EVERY_KIND) {
      const { status, headers, body } = await send(withMethod(method, target));
      expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
      // A page that is rendered for each request has React Router's document.
      if (target !== RENDERED || method === "TRACE") expect(body).toBe("Method Not Allowed\n");
    }
  },
);

test.each([
  ["OPTIONS of the whole server", [400], withMethod("OPTIONS", "*")],
  ["an unknown method", [400], withMethod("BREW", "/")],
  ["a method in lower case", [400], withMethod("get", "/")],
  ["HTTP/2 with prior knowledge", [400], lines("PRI * HTTP/2.0", "", "SM")],
  ["TLS", [400], "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["CONNECT", [405], withMethod("CONNECT", "localhost:443")],
])("%s gets %j, and the connection is closed", async (_label, statuses, request) => {
  expect((await sendAll(request)).statuses).toEqual(statuses);
});

test.each([
  ["bytes that aren't HTTP", "nonsense\r\n\r\n", 400],
  ["CONNECT", withMethod("CONNECT", "localhost:443"), 405],
])("the response to %s comes after the response to the previous request", async (_label, bytes, status) => {
  for (const [path, first] of [
    ["/", 200],
    [RENDERED, 404],
  ] as const) {
    const { statuses } = await sendAll(lines(`GET ${path} HTTP/1.1`, HOST) + bytes);
    expect(statuses).toEqual([first, status]);
  }
});

test("a client that resets the connection after a CONNECT affects no other client", async () => {
  const own = await startServer({}, FOLDER);
  const { hostname, port } = new URL(own.url);
  for (let i = 0; i < 50; i++) {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(withMethod("CONNECT", "localhost:443"));
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  expect(await own.stop()).toBe(0);
});

test.each([
  // Its path allows the body: elsewhere, 413 may be first.
  ["a method", 405, "TRACE /example-pages/upload", HOST],
  ["a Host", 400, "POST /unknown", "Host: a b"],
])("%s that is rejected gets %i while the client is still sending its body", async (_label, status, start, host) => {
  const head = lines(`${start} HTTP/1.1`, host, CLOSE, "Transfer-Encoding: chunked");
  const chunk = `f4240${CRLF}${"a".repeat(1e6)}${CRLF}`;
  for (let i = 0; i < 10; i++) expect((await send(`${head}${chunk.repeat(10)}0${CRLF}${CRLF}`)).status).toBe(status);
});

test.each(["/\0", "/a b", "/a\tb", "/\xff\xfe", "/a\rb", "/a\nb", "a", "", "?", "\\"])(
  "the malformed target %j gets 400",
  async (target) => {
    expect((await send(get(target))).status).toBe(400);
  },
);

// Paths.

test.each([
  ...ODD_PATHS,
  ["the br form of an asset", `${ASSET}.br`],
  ["the gzip form of an asset", `${ASSET}.gz`],
  ["an asset with a slash at the end", `${ASSET}/`],
])("%s is not found, without a redirect or a file's content", async (_label, path) => {
  const { status, headers, body } = await send(get(path));
  expect(status).toBe(404);
  expect(headers).not.toHaveProperty("location");
  expect(headers).not.toHaveProperty("set-cookie");
  expect(body).not.toMatch(/root:x:|createRequestHandler|"dependencies"/);
});

test("7,000 slashes are home", async () => {
  const { status, body } = await send(get("/".repeat(7000), "Accept-Encoding: identity"));
  expect(status).toBe(200);
  expect(Buffer.from(body, "latin1").toString()).toBe(home);
});

test.each(["/a", "/", "/.", "/%25", "/%", "/a%2f"])(
  "a path of %s repeated takes time in proportion to its length",
  async (part) => {
    for (const end of ["", RENDERED]) {
      const short = get(part.repeat(1500 / part.length) + end);
      const long = get(part.repeat(12_000 / part.length) + end);
      // Even on a busy machine, the shortest of many runs is one that nothing interrupts.
      let [shortTime, longTime] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let run = 0; run < 15; run++) {
        shortTime = Math.min(shortTime, await measure(short));
        longTime = Math.min(longTime, await measure(long));
      }
      // A path that is eight times as long takes at most 8 times as long, and 64 times if the time were quadratic.
      expect(longTime / shortTime).toBeLessThan(16);
    }
  },
);

async function measure(request: string) {
  const startedAt = performance.now();
  await send(request);
  return performance.now() - startedAt;
}

// Headers.

test.each([
  ["a NUL", "X: a\0b"],
  ["a folded line", `X: a${CRLF} b`],
  ["a bare CR", "X: a\rb"],
  ["a bare LF", "X: a\nY: b"],
  ["a space before the colon", "X : a"],
  ["no colon", "X"],
  ["no name", ": a"],
])("a header with %s gets 400", async (_label, header) => {
  expect((await send(get("/", header))).status).toBe(400);
});

test.each([
  ["headers over 16 KB", 431, get("/", `X: ${"a".repeat(17_000)}`)],
  ["a target over 16 KB", 431, get(`/${"a".repeat(17_000)}`)],
  ["100 header lines", 200, get("/", ...times(98, (i) => `X${i}:`))],
  ["101 header lines", 431, get("/", ...times(99, (i) => `X${i}:`))],
  ["a second Host after 90 header lines", 400, get("/", ...times(90, (i) => `X${i}:`), "Host: other")],
  ["a fragment in the target", 400, get("/a#b")],
  ["3,000 times one header line", 431, get("/", ...times(3000, () => "X:"))],
])("%s: %i", async (_label, status, request) => {
  expect((await send(request)).status).toBe(status);
});

test.each([
  ["an expectation", [100, 200], ["Expect: 100-continue", "Content-Length: 3", "", "abc"]],
  ["an unknown expectation", [417], ["Expect: nonsense"]],
])("%s gets %j", async (_label, statuses, headers) => {
  expect((await sendAll(get("/", ...headers))).statuses).toEqual(statuses);
});

test.each([
  "X-Forwarded-Host: ,",
  "X-Forwarded-Host:",
  "X-Forwarded-Host: a b",
  "X-Forwarded-Host: [bad",
  "X-Forwarded-Host: x:99999999",
  "X-Forwarded-Host: user@other/path?",
  "X-Forwarded-Host: \xff",
  "X-Forwarded-Host: other:8080, inner",
  "X-Forwarded-Proto: a b",
  "X-Forwarded-Proto: javascript",
  "X-Forwarded-Proto: http://other/?",
  "X-Forwarded-Proto: https, http",
  "X-Forwarded-For: ,,, nonsense",
  "Range: bytes=9999999-",
  "Range: nonsense",
  "Accept-Encoding: ;q=x,,=, \xff",
  "If-None-Match: *",
  "If-Modified-Since: nonsense",
  "Cookie: \xff=\xfe; ;;=",
  "Content-Type: \xff",
  "constructor: a",
  "__proto__: a",
])("a rendered page has its usual status with the header %j", async (header) => {
  expect((await send(get(RENDERED, header))).status).toBe(404);
});

// Bodies.

test.each([
  ["Content-Length and Transfer-Encoding", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
  ["Transfer-Encoding and Content-Length", ["Transfer-Encoding: chunked", "Content-Length: 5"]],
  ["two Content-Lengths", ["Content-Length: 5", "Content-Length: 6"]],
  ["the same Content-Length twice", ["Content-Length: 5", "Content-Length: 5"]],
  ["a list of Content-Lengths", ["Content-Length: 5, 5"]],
  ["a signed Content-Length", ["Content-Length: +5"]],
  ["a negative Content-Length", ["Content-Length: -5"]],
  ["a hexadecimal Content-Length", ["Content-Length: 0x5"]],
  ["a huge Content-Length", ["Content-Length: 99999999999999999999"]],
  ["two Transfer-Encodings", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]],
  ["another coding after chunked", ["Transfer-Encoding: chunked, gzip"]],
  ["another coding before chunked", ["Transfer-Encoding: gzip, chunked"]],
  ["another coding", ["Transfer-Encoding: gzip"]],
  ["an unknown coding", ["Transfer-Encoding: xchunked"]],
  ["an empty Transfer-Encoding", ["Transfer-Encoding:"]],
  ["a vertical tab before chunked", ["Transfer-Encoding:\vchunked"]],
])("%s: 400, and no request is read from the body", async (_label, headers) => {
  for (const method of ["GET", "POST"]) {
    const smuggled = lines("GET /smuggled HTTP/1.1", HOST);
    const request = `${lines(`${method} / HTTP/1.1`, HOST, ...headers)}0${CRLF}${CRLF}${smuggled}`;
    expect((await send(request)).status).toBe(400);
  }
});

test("Transfer-Encoding in HTTP/1.0: 400, and no request is read from the body", async () => {
  const request = lines("GET / HTTP/1.0", "Connection: keep-alive", "Transfer-Encoding: chunked");
  const smuggled = lines("GET /smuggled HTTP/1.1", HOST);
  expect((await send(`${request}0${CRLF}${CRLF}${smuggled}`)).status).toBe(400);
});

test.each([
  ["with a length", "Content-Length: 24", "GET /smuggled HTTP/1.1\r\n"],
  ["in chunks", "Transfer-Encoding: chunked", `18${CRLF}GET /smuggled HTTP/1.1\r\n${CRLF}0${CRLF}${CRLF}`],
])("a body %s is skipped, and the next request on the connection is handled", async (_label, header, body) => {
  for (const [method, target, status] of [
    ["GET", "/", 200],
    ["HEAD", "/", 200],
    ["POST", "/", 405],
    ["GET", ASSET, 200],
    ["GET", RENDERED, 404],
  ]) {
    const request = lines(`${method} ${target} HTTP/1.1`, HOST, header);
    const { responses, statuses } = await sendAll(request + body + get("/favicon.ico"));
    expect(statuses).toEqual([status, 200]);
    expect(responses[1]?.headers["content-type"]).toBe("image/vnd.microsoft.icon");
  }
});

test.each([
  ["a malformed chunk", ["Transfer-Encoding: chunked"], `zz${CRLF}abc`],
  ["a chunk extension of 20,000 characters", ["Transfer-Encoding: chunked"], `1;${"a".repeat(20_000)}${CRLF}`],
])("%s is rejected, and the connection is closed", async (_label, headers, body) => {
  const { status } = await send(lines("POST / HTTP/1.1", HOST, ...headers) + body);
  expect([400, 405, 413]).toContain(status);
});

// Connections.

test("pipelined requests get their responses in order", async () => {
  const paths = ["/", RENDERED, ASSET, "/unknown", "/favicon.ico", "/", "/assets/unknown.js", RENDERED, "/"];
  const pipelined = paths.map((path) => get(path).replace(CLOSE, "Connection: keep-alive")).join("") + get("/");
  expect((await sendAll(pipelined)).statuses).toEqual([200, 404, 200, 404, 200, 200, 404, 404, 200, 200]);
});

// The log.

test("an unknown path logs one line, and no error", async () => {
  const path = "/logged-once";
  await send(get(path));
  const log = await readLog();
  expect(log.filter((line) => line["url.path"] === path)).toMatchObject([
    { level: "info", msg: "request", "http.response.status_code": 404, "http.route": "/*" },
  ]);
  expect(log.filter(({ level }) => level !== "info")).toEqual([]);
  expect(JSON.stringify(log)).not.toContain("    at ");
});

test("clients that leave before their response cause no error in the log", async () => {
  for (const path of ["/", RENDERED, ASSET]) {
    for (let i = 0; i < 20; i++) {
      const controller = new AbortController();
      const response = fetch(`${server.url}${path}`, { signal: controller.signal }).catch(() => {});
      await setTimeout(i % 4);
      controller.abort();
      await response;
    }
  }
  expect((await readLog()).filter(({ level }) => level !== "info")).toEqual([]);
});
