import { readdirSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { NODE_ENV } from "./support/node-flags.ts";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** The same seed makes the same requests. To repeat a failure, set FUZZ_SEED to the seed that the test logs. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 6000);
/** For the copy with the example pages. */
const GROWN_REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 10_000);
/** A small heap and a small page cache, as in the image: garbage is collected soon, and a leak shows. */
const ENV = {
  ...NODE_ENV,
  NODE_OPTIONS: "--max-old-space-size=64 --max-semi-space-size=2",
  PAGE_CACHE_MAX_BYTES: "8388608",
};
/** How much more memory the server may use after the second half than after the first. */
const MAX_GROWTH_MB = 20;

const ASSETS = readdirSync(`${SITE}/build/client/assets`).map((name) => `/assets/${name}`);

type Texts = fc.Arbitrary<string>;
const words = (list: string) => fc.constantFrom(...list.split(" "));
const bytes = (maxLength: number): Texts =>
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength }).map((codes) => String.fromCharCode(...codes));
const visible = (maxLength: number): Texts =>
  fc.array(fc.integer({ min: 0x21, max: 0x7e }), { maxLength }).map((codes) => String.fromCharCode(...codes));
const mostly = (usual: Texts, ...odd: Texts[]) =>
  fc.oneof({ weight: 12, arbitrary: usual }, ...odd.map((arbitrary) => ({ weight: 1, arbitrary })));
const joined = (...parts: Texts[]): Texts => fc.tuple(...parts).map((texts) => texts.join(""));
const repeated = (part: Texts): Texts =>
  fc.tuple(part, fc.nat(18_000)).map(([part, length]) => part.repeat(length / part.length));

const method = mostly(words("GET GET GET HEAD POST"), words("PUT OPTIONS TRACE CONNECT PRI QUERY get GETX"), bytes(8));

const segment = fc.oneof(
  fc.constantFrom(""),
  words(". .. a assets favicon.ico etc passwd .git server index.js _.data a.data __manifest * :id \\ ;a=b"),
  words("%2e%2e %2f %5c %00 %0d%0a %25 % %E0%A4%A %F0%9F%91%8B %E2%80%A8"),
  visible(12),
);
const path = mostly(
  fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join("/")}`),
  fc.constantFrom("/", "/favicon.ico", "/robots.txt", ...ASSETS),
  fc.constantFrom(...ASSETS),
  repeated(words("/a / /%25 /% /. /%0a")),
);
const query = mostly(
  fc.constantFrom("", "", "?", "?_data=root", "?_routes", "?index", "#"),
  joined(words("?"), visible(20)),
);
const host = mostly(
  words("localhost localhost:3000 [::1] 127.0.0.1:80"),
  fc.constantFrom("", "a b", "[bad", "x:99999999", "u@x", "a/b", "%zz", "::1", "1.2.3.999", "x%00", "xn--a", "\xff"),
  bytes(10),
);
const target = mostly(
  joined(path, query),
  joined(words("http:// https:// ftp:// //"), host, path, query),
  fc.oneof(fc.constantFrom("*", "", "a:443"), bytes(20)),
);

const name = words(
  "Accept Accept-Encoding Accept-Language Connection Content-Type Cookie Forwarded If-Match If-Modified-Since If-None-Match " +
    "If-Range Keep-Alive Origin Range Referer TE User-Agent X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Request-Id " +
    "constructor __proto__ X-React-Router-SPA-Mode",
);
const value = fc.oneof(
  words(
    `* , br gzip br;q=0,gzip bytes=0-9 bytes=9-0 bytes=-1 bytes=999999999- close keep-alive upgrade "a" W/"a",* https a`,
  ),
  words("javascript ::1 1.2.3.4 application/json a=b; text/html;q=x"),
  host,
  visible(30),
);
const framing = fc.constantFrom(
  "Content-Length: 0",
  "Content-Length: 3",
  "Content-Length: -1",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip",
  "Expect: 100-continue",
  "Expect: a",
  "Connection: upgrade\r\nUpgrade: websocket",
  "Trailer: a",
  "Host: a",
  ": a",
  "a",
);
const header = mostly(
  joined(name, fc.constant(": "), value),
  framing,
  joined(name, fc.constant(": "), repeated(words("a \xff"))),
);
const headers = fc.oneof(
  { weight: 12, arbitrary: fc.array(header, { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.tuple(header, fc.nat(200)).map(([header, count]) => Array<string>(count).fill(header)) },
);
const version = mostly(words("HTTP/1.1"), words("HTTP/1.0 HTTP/2.0 HTTP/0.9 http/1.1"));
const body = mostly(fc.constantFrom(""), fc.constantFrom("abc", "0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n"), bytes(40));

const wellFormed = fc
  .tuple(method, target, version, host, headers, body)
  .map(([method, target, version, host, headers, body]) =>
    [`${method} ${target} ${version}`, `Host: ${host}`, ...headers, "", body].join("\r\n"),
  );
/** A request with some bytes inserted somewhere. */
const broken = fc.tuple(wellFormed, bytes(4), fc.nat(10_000)).map(([request, bytes, place]) => {
  const at = place % request.length;
  return request.slice(0, at) + bytes + request.slice(at);
});
const request = mostly(wellFormed, broken);

/** The paths of the example pages, except those that are slow, wait for a signal or end the process. */
const page = words(
  "/about /posts/1 /posts/9 /notes/9 /sign-up /sign-up.data /weather /temperature /docs /docs/a.data /docs/a/b " +
    "/hostile /echo /echo.data /large-form /upload /upload.data /start /broken/loader /broken/response.data",
).map((path) => `/example-pages${path}`);
const contentType = words(
  "application/x-www-form-urlencoded multipart/form-data;boundary=b multipart/form-data application/json text/plain " +
    "text/x-script application/octet-stream image/png a",
);
const form = fc.oneof(
  words('a=1 a&b=%zz& a=%F0%9F%91%8B {"a":1} {"a": [] null --b-- --b'),
  fc
    .tuple(words('name="a" name="file";filename="a" name= filename="../a" a'), bytes(40))
    .map(([field, text]) => `--b\r\nContent-Disposition: form-data; ${field}\r\n\r\n${text}\r\n--b--\r\n`),
  repeated(words("a& a=b& --b\r\n \0")),
  bytes(60),
);
const sized = form.map((form) => `Content-Length: ${form.length}\r\n\r\n${form}`);
const cutShort = form.map((form) => `Content-Length: ${form.length + 1}\r\n\r\n${form}`);
const chunked = form.map((form) => {
  const chunk = form === "" ? "" : `${form.length.toString(16)}\r\n${form}\r\n`;
  return `Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`;
});
const post = fc
  .tuple(
    mostly(words("POST"), words("PUT PATCH DELETE")),
    mostly(page, path),
    contentType,
    mostly(sized, chunked, cutShort),
  )
  .map(
    ([method, path, type, rest]) => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${rest}`,
  );
const get = mostly(page, path).map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
const pipeline = fc.array(fc.oneof(get, post), { minLength: 2, maxLength: 6 });
const grownRequest = fc.oneof(
  request,
  post,
  pipeline.map((requests) => requests.join("")),
);

type Subject = { title: string; folder: string; request: Texts; count: number; mayFail: (request: string) => boolean };

const SUBJECTS: Subject[] = [
  { title: "the project", folder: SITE, request, count: REQUESTS, mayFail: () => false },
  {
    title: "the example pages",
    folder: SITE,
    request: grownRequest,
    count: GROWN_REQUESTS,
    mayFail: (request) => request.includes("/example-pages/broken/"),
  },
];

async function countOf(server: RunningServer, metric: string) {
  const text = await (await fetch(`${server.opsUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(metric));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

test.each(SUBJECTS)(
  "$title: $count random requests get no 5xx and no stack trace, and are logged",
  {
    timeout: 3_600_000,
  },
  async ({ folder, request, count, mayFail }) => {
    console.log(`FUZZ_SEED=${SEED}`);
    const server = await startServer(ENV, folder);
    const home = await (await fetch(server.url)).text();
    const statuses: Record<string, number> = {};
    const ids: string[] = [];
    let rejectedByParser = 0;

    const fuzz = async (seed: number) => {
      await fc.assert(
        fc.asyncProperty(request, async (request) => {
          const { responses, isClosed } = await exchange(server.url, request, true);
          expect(isClosed).toBe(true);
          for (const { status, headers, body } of responses) {
            statuses[status] = (statuses[status] ?? 0) + 1;
            if (headers["x-request-id"]) ids.push(headers["x-request-id"]);
            else if (headers["cache-control"] === "no-store") rejectedByParser += 1;
            if (!mayFail(request)) expect(status).toBeLessThan(500);
            expect(body).not.toMatch(/\n {4}at |root:x:|createRequestHandler/);
          }
          const next = await fetch(server.url);
          expect([next.status, await next.text()]).toEqual([200, home]);
        }),
        { seed, numRuns: count / 2 },
      );
      return readProcessMetrics(server);
    };

    const before = await readProcessMetrics(server);
    const halfway = await fuzz(SEED);
    const after = await fuzz(SEED + 1);
    console.log({ statuses, before, halfway, after });
    expect(after.residentMB).toBeLessThan(halfway.residentMB + MAX_GROWTH_MB);
    await expect.poll(async () => (await readProcessMetrics(server)).sockets, { timeout: 60_000 }).toBeLessThan(5);
    const rejections = await countOf(server, "http_parser_rejections_total");
    const measured = await countOf(server, "http_server_request_duration_seconds_count");
    expect(await server.stop()).toBe(0);

    const logged = server.lines.filter(({ msg }) => msg === "request");
    const loggedIds = new Set(logged.map((line) => line["http.request.id"]));
    expect(ids.filter((id) => !loggedIds.has(id))).toEqual([]);
    expect(logged).toHaveLength(measured);
    expect(rejections).toBeGreaterThanOrEqual(rejectedByParser);
    const unexpected = server.lines.filter(({ level, msg }) => level !== "info" && msg !== "render failed");
    expect(unexpected).toEqual([]);
  },
);
