// The CPU time of requests with headers of 14 KB, in proportion to a header of that length that nothing reads.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { exchange } from "./support/exchange.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const LENGTH = 14_000;
/** More, with a body, would be too many to pipeline. */
const REQUESTS = 20;
const WARM_UP_ROUNDS = 40;
/** The shortest of many runs is one that nothing interrupts, even on a busy machine. */
const MAX_ROUNDS = 60;
/** A header that is parsed to its end makes it 4 to 40. */
const MAX_RATIO = 3;

let server: RunningServer;
beforeAll(async () => {
  const probe = `${import.meta.dirname}/support/log-cpu-time.mjs`;
  server = await startServer({ TRUST_PROXY: "loopback" }, SITE, [process.execPath, "--import", probe]);
  // V8 compiles what runs often.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await measure(PAGE, "X-Forwarded-For: ::1,::1", "");
});
afterAll(() => server.stop());

/** The CPU time of the server until now, in microseconds. */
async function readCpuTime() {
  const { child, lines } = server;
  const times = () => lines.filter(({ msg }) => msg === "cpu time");
  const before = times().length;
  child.kill("SIGUSR2");
  await vi.waitUntil(() => times().length > before, { interval: 1, timeout: 60_000 });
  return Number(times().at(-1)?.microseconds);
}

/** The CPU time of requests with this header. */
async function measure(start: string, header: string, body: string) {
  const host = header.startsWith("Host:") ? "" : "Host: localhost\r\n";
  const head = `${start} HTTP/1.1\r\n${host}${header}\r\n`;
  const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const before = await readCpuTime();
  const last = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  const { responses } = await exchange(server.url, request.repeat(REQUESTS - 1) + last);
  expect(responses).toHaveLength(REQUESTS);
  return (await readCpuTime()) - before;
}

const fill = (part: string, start = "", end = "") =>
  start + part.repeat((LENGTH - start.length - end.length) / part.length) + end;

const PAGE = "GET /";
const RENDERED = "GET /example-pages/stock/1";
const FILE = "HEAD /film.mp4";
const FORM = "POST /";
const REPORT = "POST /browser-reports";

/** The headers that the server reads, and what takes longest to parse in each. */
const HEADERS: [start: string, name: string, value: string][] = [
  [PAGE, "X-Forwarded-For", fill("::1,")],
  [PAGE, "X-Forwarded-For", "::1,".repeat(128)], // So long that it isn't cut.
  [PAGE, "X-Forwarded-For", fill(",")],
  [PAGE, "X-Forwarded-For", fill("::ffff:127.0.0.1, ")],
  [PAGE, "X-Forwarded-For", fill("a")],
  [PAGE, "X-Forwarded-For", fill(":")],
  [PAGE, "X-Forwarded-For", fill("1.")],
  [RENDERED, "X-Forwarded-For", fill("::1,")],
  [RENDERED, "X-Forwarded-Proto", fill("https,")],
  [RENDERED, "X-Forwarded-Proto", fill(" ", "a", "https")],
  [PAGE, "X-Forwarded-Host", fill("a,")],
  [PAGE, "Accept-Encoding", fill("br;q=1,")],
  [RENDERED, "Accept-Encoding", fill("a,")],
  [FILE, "Accept-Encoding", fill("a,")],
  [PAGE, "If-None-Match", fill('"a",')],
  [PAGE, "If-None-Match", fill(",")],
  [PAGE, "If-Modified-Since", fill("(")],
  [FILE, "If-Modified-Since", fill("1 ")],
  [FILE, "If-Range", fill("a")],
  [PAGE, "Range", fill("0-,", "bytes=")],
  [FILE, "Range", fill("0-,", "bytes=")],
  [PAGE, "Cookie", fill("a=b; ")],
  [RENDERED, "Cookie", fill("a=b; ")],
  [PAGE, "traceparent", fill("-", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")],
  [PAGE, "traceparent", fill("0")],
  [PAGE, "X-Request-Id", fill("a")],
  [PAGE, "Host", fill("a.")],
  [PAGE, "Host", fill("%aa")],
  [RENDERED, "Host", fill("a.")],
  [PAGE, "Authorization", fill("a")],
  [PAGE, "Expect", fill("100-continue")],
  [PAGE, "User-Agent", fill("a")],
  [RENDERED, "User-Agent", fill("Mozilla/5.0 ")],
  [FORM, "Content-Type", fill(" ", "multipart/form-data", "x")],
  [FORM, "Content-Type", fill(";a=b", "multipart/form-data", ",")],
  [FORM, "Content-Type", fill("x-www-form-", "a/")],
  [REPORT, "Content-Type", fill(";a=b", "application/reports+json")],
  [REPORT, "Content-Type", fill('\\"', 'application/reports+json;a="')],
  [REPORT, "Content-Encoding", fill("a,")],
  [REPORT, "Origin", fill("a.", "http://")],
  [REPORT, "Origin", fill("\xe4.", "http://")],
  [REPORT, "Sec-Fetch-Site", fill("same-origin")],
  [PAGE, "Connection", fill("a,")],
  [PAGE, "Upgrade", fill("websocket,")],
  [PAGE, "Accept", fill("a/b,")],
  [PAGE, "Accept-Language", fill("de,")],
  [PAGE, "Cache-Control", fill("no-cache,")],
];

test.each(HEADERS)("%s with %s: %.20s… takes no more CPU time than with another header", async (start, name, value) => {
  const body = start.startsWith("POST") ? "a=b" : "";
  const times = { read: Number.POSITIVE_INFINITY, unread: Number.POSITIVE_INFINITY };
  const ratio = () => times.read / times.unread;
  for (let round = 0; round < MAX_ROUNDS && !(ratio() < MAX_RATIO); round++) {
    times.unread = Math.min(times.unread, await measure(start, `X-${name}: ${value}`, body));
    times.read = Math.min(times.read, await measure(start, `${name}: ${value}`, body));
  }
  expect(ratio()).toBeLessThan(MAX_RATIO);
});
