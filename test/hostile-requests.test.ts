import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

afterEach(async () => {
  const response = await fetch(server.url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("Hello World</h1>");
});

const ASSET = `/assets/${readdirSync("build/client/assets").find((name) => name.endsWith(".js"))}`;
/** No pattern of React Router's matches a line break, so this one is rendered when it is asked for. */
const RENDERED = "/%0a";

const CRLF = "\r\n";
const HOST = "Host: localhost";
const CLOSE = "Connection: close";

/** A request whose lines are as given. */
const lines = (...all: string[]) => [...all, "", ""].join(CRLF);
/** An otherwise right request for a target. */
const get = (target: string, ...headers: string[]) => lines(`GET ${target} HTTP/1.1`, HOST, CLOSE, ...headers);
const withMethod = (method: string, target: string) => lines(`${method} ${target} HTTP/1.1`, HOST, CLOSE);
const withHosts = (target: string, ...hosts: string[]) =>
  lines(`GET ${target} HTTP/1.1`, CLOSE, ...hosts.map((host) => `Host: ${host}`));
const times = (count: number, toLine: (index: number) => string) => Array.from({ length: count }, (_, i) => toLine(i));

/** Sends a request that has one answer, after which the server closes. */
async function ask(request: string) {
  const { responses, isClosed } = await exchange(server.url, request);
  expect(isClosed).toBe(true);
  expect(responses).toHaveLength(1);
  return responses[0] as (typeof responses)[0];
}

test.each([
  ["absolute form", lines("GET http://other/ HTTP/1.1", HOST, CLOSE), 200],
  ["absolute form without a path", lines("GET http://other HTTP/1.1", HOST, CLOSE), 200],
  ["absolute form with a query only", lines("GET https://other?q HTTP/1.1", HOST, CLOSE), 200],
  ["absolute form of an unknown path", lines("GET http://other/x HTTP/1.1", HOST, CLOSE), 404],
  ["absolute form with a bad Host", lines("GET http://other/ HTTP/1.1", "Host: a b", CLOSE), 400],
  ["another scheme", lines("GET ftp://other/ HTTP/1.1", HOST, CLOSE), 400],
  ["HTTP/1.0 without Host", lines("GET / HTTP/1.0"), 200],
  ["HTTP/1.0 without Host, rendered", lines(`GET ${RENDERED} HTTP/1.0`), 404],
  ["HTTP/1.1 without Host", lines("GET / HTTP/1.1", CLOSE), 400],
  ["an empty Host", withHosts("/", ""), 200],
  ["an empty Host, rendered", withHosts(RENDERED, ""), 404],
  ["an IPv6 Host", withHosts("/", "[::1]:3000"), 200],
])("%s", async (_name, request, status) => {
  expect((await ask(request)).status).toBe(status);
});

const BAD_HOSTS = [
  "a b",
  "a\tb",
  "[bad",
  "[::1",
  "x:99999999",
  "x:y",
  "u@x",
  "x/y",
  "x?y",
  "x#y",
  '"x"',
  "<x>",
  "\xff",
  "%zz",
];

test.each([
  ...BAD_HOSTS.map((host) => [host]),
  ["localhost", "other"],
  ["localhost", "localhost"],
  ["localhost", ""],
  ["", ""],
])("Host %j %j is refused, whatever is asked", async (...hosts) => {
  for (const target of ["/", "/unknown", RENDERED, "/favicon.ico", ASSET, "/assets/unknown.js"]) {
    expect((await ask(withHosts(target, ...hosts))).status).toBe(400);
  }
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"])(
  "%s is 405 everywhere",
  async (method) => {
    for (const target of ["/", "/unknown", RENDERED, "/favicon.ico", ASSET, "/assets/unknown.js"]) {
      const { status, headers, body } = await ask(withMethod(method, target));
      expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
      expect(body).toBe("Method Not Allowed\n");
    }
  },
);

test.each([
  ["OPTIONS of the server", withMethod("OPTIONS", "*"), [400]],
  ["an unknown method", withMethod("BREW", "/"), [400]],
  ["a method in lower case", withMethod("get", "/"), [400]],
  ["HTTP/2 without a word about it", lines("PRI * HTTP/2.0", "", "SM"), [400]],
  ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400]],
  ["CONNECT", withMethod("CONNECT", "localhost:443"), []],
])("%s closes the connection", async (_name, request, statuses) => {
  const { responses, isClosed } = await exchange(server.url, request);
  expect(responses.map(({ status }) => status)).toEqual(statuses);
  expect(isClosed).toBe(true);
});

test.each([
  "/%",
  "/%E0%A4%A",
  "/%00",
  "/a%00.html",
  "/%0d%0aSet-Cookie:%20a=b",
  "/%250d%250a",
  "/..",
  "/../../../../etc/passwd",
  "/..%2f..%2f..%2fetc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/%252e%252e%252fetc/passwd",
  "/..%5c..%5cetc/passwd",
  "/..\\..\\etc/passwd",
  "/....//....//etc/passwd",
  "/assets/../../server/index.js",
  "/assets/..%2f..%2fserver%2findex.js",
  "/assets/%2e%2e%2f%2e%2e%2fserver%2findex.js",
  "/assets/..%00/",
  "/assets%2f..%2f..%2fpackage.json",
  "/favicon.ico%00.html",
  "/favicon.ico/",
  "/.vite/manifest.json",
  "/.git/config",
  "/.env",
  "/package.json",
  "/server/index.js",
  "//etc/passwd",
  "///localhost/%2f..",
  "/file:///etc/passwd",
  "/a#b",
  `${ASSET}.br`,
  `${ASSET}.gz`,
  `${ASSET}/`,
])("%s is not found", async (target) => {
  const { status, headers, body } = await ask(get(target));
  expect(status).toBe(404);
  expect(headers["set-cookie"]).toBeUndefined();
  expect(body).not.toMatch(/root:x:|createRequestHandler|"dependencies"/);
});

test.each(["/\0", "/a b", "/a\tb", "/\xff\xfe", "/a\rb", "/a\nb", "a", "", "?", "\\"])(
  "the parser refuses %j",
  async (target) => {
    expect((await ask(get(target))).status).toBe(400);
  },
);

test.each([
  ["a NUL", "X: a\0b"],
  ["a folded line", `X: a${CRLF} b`],
  ["a bare CR", "X: a\rb"],
  ["a bare LF", "X: a\nY: b"],
  ["a space before the colon", "X : a"],
  ["no colon", "X"],
  ["no name", ": a"],
])("the parser refuses a header with %s", async (_name, header) => {
  expect((await ask(get("/", header))).status).toBe(400);
});

test.each([
  ["headers over 16 KB", get("/", `X: ${"a".repeat(17_000)}`), 431],
  ["a target over 16 KB", get(`/${"a".repeat(17_000)}`), 431],
  ["a target over 8 KB", get(`/${"a".repeat(9000)}`), 404],
  ["1,500 headers", get("/", ...times(1500, (i) => `X${i}:`)), 200],
  ["a second Host behind 1,500 headers", get("/", ...times(1500, (i) => `X${i}:`), "Host: other"), 400],
  ["a second Host behind 3,000 times one header", get("/", ...times(3000, () => "X:"), "Host: other"), 400],
  ["7,000 segments", get("/a".repeat(7000)), 404],
  ["7,000 slashes, which are home", get("/".repeat(7000)), 200],
  ["7,000 dots", get("/.".repeat(7000)), 404],
  ["3,500 escapes", get("/%25".repeat(3500)), 404],
  ["5,000 broken escapes", get("/%".repeat(5000)), 404],
  ["7,000 segments, rendered", get(`${"/a".repeat(7000)}%0a`), 404],
])("%s", async (_name, request, status) => {
  expect((await ask(request)).status).toBe(status);
});

async function medianTime(request: string) {
  const times: number[] = [];
  for (let i = 0; i < 15; i++) {
    const begun = performance.now();
    await ask(request);
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[7] as number;
}

test.each(["/a", "/", "/.", "/%25", "/%", "/a%2f"])(
  "%s repeated: twice the path, at most twice the time",
  async (part) => {
    for (const end of ["", RENDERED]) {
      const [short, long] = [6000, 12_000].map((length) => get(part.repeat(length / part.length) + end));
      const [once, twice] = [await medianTime(short as string), await medianTime(long as string)];
      // Twice, and as much again for a machine that does other things too.
      expect(twice / once).toBeLessThanOrEqual(4);
    }
  },
);

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
])("%s: refused, and what follows is not answered", async (_name, headers) => {
  for (const method of ["GET", "POST"]) {
    const smuggled = lines("GET /smuggled HTTP/1.1", HOST);
    const request = `${lines(`${method} / HTTP/1.1`, HOST, ...headers)}0${CRLF}${CRLF}${smuggled}`;
    expect((await ask(request)).status).toBe(400);
  }
});

test("HTTP/1.0 has no Transfer-Encoding", async () => {
  const request = lines("GET / HTTP/1.0", "Connection: keep-alive", "Transfer-Encoding: chunked");
  expect((await ask(`${request}0${CRLF}${CRLF}${lines("GET /smuggled HTTP/1.1", HOST)}`)).status).toBe(400);
});

test.each([
  ["with a length", "Content-Length: 24", "GET /smuggled HTTP/1.1\r\n"],
  ["in chunks", "Transfer-Encoding: chunked", `18${CRLF}GET /smuggled HTTP/1.1\r\n${CRLF}0${CRLF}${CRLF}`],
])("a body %s leaves the connection in step", async (_name, header, body) => {
  for (const [method, target, status] of [
    ["GET", "/", 200],
    ["HEAD", "/", 200],
    ["POST", "/", 405],
    ["GET", ASSET, 200],
    ["GET", RENDERED, 404],
  ]) {
    const request = lines(`${method} ${target} HTTP/1.1`, HOST, header);
    const { responses } = await exchange(server.url, request + body + get("/favicon.ico"));
    expect(responses.map(({ status }) => status)).toEqual([status, 200]);
    expect(responses[1]?.headers["content-type"]).toBe("image/vnd.microsoft.icon");
  }
});

test("requests sent ahead are answered in turn, and thousands of them are too many", async () => {
  const paths = ["/", RENDERED, ASSET, "/unknown", "/favicon.ico", "/", "/assets/unknown.js", RENDERED, "/"];
  const ahead = paths.map((path) => get(path).replace(CLOSE, "Connection: keep-alive"));
  const { responses } = await exchange(server.url, ahead.join("") + get("/"));
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 200, 404, 200, 200, 404, 404, 200, 200]);
  const flood = await exchange(server.url, lines("GET / HTTP/1.1", HOST).repeat(3000));
  expect(flood.isClosed).toBe(true);
  expect(flood.responses.length).toBeLessThan(100);
});

test.each([
  ["a broken chunk", ["Transfer-Encoding: chunked"], `zz${CRLF}abc`],
  ["a chunk's endless extension", ["Transfer-Encoding: chunked"], `1;${"a".repeat(20_000)}${CRLF}`],
])("%s closes the connection", async (_name, headers, body) => {
  const { status } = await ask(lines("POST / HTTP/1.1", HOST, ...headers) + body);
  expect([400, 405, 413]).toContain(status);
});

test.each([
  ["an expectation", ["Expect: 100-continue", "Content-Length: 3", "", "abc"], [100, 200]],
  ["an unknown expectation", ["Expect: nonsense"], [417]],
  ["an upgrade to WebSocket", ["Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"], [200]],
  ["an upgrade to HTTP/2", ["Connection: upgrade", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"], [200]],
])("%s", async (_name, headers, statuses) => {
  const { responses } = await exchange(server.url, get("/", ...headers));
  expect(responses.map(({ status }) => status)).toEqual(statuses);
});

test.each([
  ["X-Forwarded-Host: ,", 404],
  ["X-Forwarded-Host:", 404],
  ["X-Forwarded-Host: a b", 404],
  ["X-Forwarded-Host: [bad", 404],
  ["X-Forwarded-Host: x:99999999", 404],
  ["X-Forwarded-Host: user@other/path?", 404],
  ["X-Forwarded-Host: \xff", 404],
  ["X-Forwarded-Host: other:8080, inner", 404],
  ["X-Forwarded-Proto: a b", 404],
  ["X-Forwarded-Proto: javascript", 404],
  ["X-Forwarded-Proto: http://other/?", 404],
  ["X-Forwarded-Proto: https, http", 404],
  ["X-Forwarded-For: ,,, nonsense", 404],
  ["Range: bytes=9999999-", 404],
  ["Range: nonsense", 404],
  ["Accept-Encoding: ;q=x,,=, \xff", 404],
  ["If-None-Match: *", 404],
  ["If-Modified-Since: nonsense", 404],
  ["Cookie: \xff=\xfe; ;;=", 404],
  ["Content-Type: \xff", 404],
  ["constructor: a", 404],
  ["__proto__: a", 404],
])("a rendered page survives %j", async (header, status) => {
  expect((await ask(get(RENDERED, header))).status).toBe(status);
});

const EVERY_KIND = [
  "/",
  "/unknown",
  RENDERED,
  "/favicon.ico",
  "/robots.txt",
  ASSET,
  "/assets/unknown.js",
  "/assets",
  "/assets/",
];

const maskNonce = (policy: string) => policy.replaceAll(/'nonce-[^']+'/g, "'nonce'");

test.each(EVERY_KIND)("%s: HEAD has the headers of GET", async (path) => {
  const requests = [
    ["Accept-Encoding: br"],
    ["Accept-Encoding: gzip"],
    [],
    ["Range: bytes=0-9"],
    ["Range: bytes=9999999-"],
    ["If-None-Match: *"],
    ["Host: second"],
  ];
  for (const headers of requests) {
    const forGet = await ask(get(path, ...headers));
    const forHead = await ask(get(path, ...headers).replace("GET", "HEAD"));
    for (const answer of [forGet, forHead]) {
      // A nonce is new each time, and how a rendered body is framed HEAD can't know (RFC 9110 §9.3.2).
      for (const name of ["date", "x-request-id", "transfer-encoding"]) delete answer.headers[name];
      answer.headers["content-security-policy"] &&= maskNonce(answer.headers["content-security-policy"]);
    }
    expect(forHead).toEqual({ ...forGet, body: "" });
  }
});

test.each(EVERY_KIND)("%s: every answer says how to cache it", async (path) => {
  const requests = [
    get(path),
    withMethod("POST", path),
    withHosts(path, "a b"),
    get(path, "If-None-Match: *"),
    get(path, "Range: bytes=9999999-"),
    get(path, "Range: bytes=0-0"),
  ];
  for (const request of requests) expect((await ask(request)).headers["cache-control"]).toBeTruthy();
});

test.each(["/", ASSET])("%s: 304 has the Vary, Cache-Control and ETag of 200", async (path) => {
  const whole = await ask(get(path, "Accept-Encoding: br"));
  const again = await ask(get(path, "Accept-Encoding: br", `If-None-Match: ${whole.headers.etag}`));
  expect(again.status).toBe(304);
  for (const name of ["vary", "cache-control", "etag"]) {
    expect(again.headers[name]).toBeTruthy();
    expect(again.headers[name]).toBe(whole.headers[name]);
  }
});

test.each([ASSET, "/favicon.ico"])("%s: 416 is not for keeping", async (path) => {
  const { status, headers } = await ask(get(path, "Range: bytes=9999999-", "Accept-Encoding: br"));
  expect(status).toBe(416);
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["content-encoding"]).toBeUndefined();
  expect(headers["content-range"]).toMatch(/^bytes \*\/\d+$/);
});

test("a range of an asset is one of its own bytes, whatever coding is wanted", async () => {
  const file = readFileSync(`build/client${ASSET}`, "latin1");
  for (const coding of ["br", "gzip", "identity"]) {
    const { status, headers, body } = await ask(get(ASSET, "Range: bytes=10-19", `Accept-Encoding: ${coding}`));
    expect(status).toBe(206);
    expect(headers["content-encoding"]).toBeUndefined();
    expect(headers["content-range"]).toBe(`bytes 10-19/${file.length}`);
    expect(headers.vary).toBe("Accept-Encoding");
    expect(body).toBe(file.slice(10, 20));
  }
});

test.each(["/assets", "/assets/", "/assets//", "//assets", "/assets/.", "/assets/..", "/assets?", "/assets/?q"])(
  "%s is no redirect",
  async (path) => {
    const { status, headers } = await ask(get(path));
    expect(status).toBe(404);
    expect(headers.location).toBeUndefined();
  },
);

test("an unknown path is one line in the log, and nothing in it is an error", async () => {
  const path = "/logged-once";
  await ask(get(path));
  await setTimeout(1000);
  expect(server.lines.filter((line) => line.path === path)).toMatchObject([
    { level: "info", msg: "request", method: "GET", status: 404, route: "404" },
  ]);
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
  expect(JSON.stringify(server.lines)).not.toContain("    at ");
});

test("what comes while nobody waits for it any more is no error", async () => {
  for (const path of ["/", RENDERED, ASSET]) {
    for (let i = 0; i < 20; i++) {
      const controller = new AbortController();
      const answer = fetch(`${server.url}${path}`, { signal: controller.signal }).catch(() => {});
      await setTimeout(i % 4);
      controller.abort();
      await answer;
    }
  }
  await setTimeout(1000);
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});
