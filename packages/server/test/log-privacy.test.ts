// What a client sends in queries, user names, passwords, cookies and data: URLs isn't in the log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ POSTS: "down" });
});
afterAll(() => server.stop());

const SECRET = "s3cr3t";
const CLOSE = "Connection: close";

const lines = (...all: string[]) => [...all, "", ""].join("\r\n");
const get = (target: string, ...headers: string[]) =>
  lines(`GET ${target} HTTP/1.1`, "Host: localhost", CLOSE, ...headers);
const post = (path: string, type: string, body: string, ...headers: string[]) =>
  lines(`POST ${path} HTTP/1.1`, "Host: localhost", CLOSE, `Content-Type: ${type}`, ...headers).replace(
    /\r\n$/,
    `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
const FORM = "application/x-www-form-urlencoded";

/** Whatever text a browser, or a client in its name, puts into a report. */
const report = (text: string) => ({
  type: "csp-violation",
  url: `https://${SECRET}@a.org/reported?token=${SECRET}#${SECRET}`,
  body: {
    effectiveDirective: "img-src",
    ...Object.fromEntries(
      ["blockedURL", "sourceFile", "name", "message", "stack", "release"].map((key) => [key, text]),
    ),
  },
});
const TEXTS = [
  `data:image/png;base64,${SECRET}`,
  `https://${SECRET}:${SECRET}@a.org/?token=${SECRET}#${SECRET}`,
  `failed to fetch /api/x?token=${SECRET}, wss://a.org?token=${SECRET}:12:3`,
];

test.each([
  ["a cached page that fails", get(`/example-pages/posts/1?page=${SECRET}`), "page not rendered"],
  ["a rendered page that fails", get(`/example-pages/broken/loader?token=${SECRET}`), "render failed"],
  ["a handler that throws", get(`/front/api/throws?token=${SECRET}`), "request failed"],
  ["a missing page", get(`/nowhere?token=${SECRET}`), "request"],
  ["an absolute-form target", get(`http://a.org/?token=${SECRET}`), "request"],
  ["a user name and a password", get(`http://${SECRET}:${SECRET}@a.org/`), "request"],
  ["a target of another scheme", get(`ftp://${SECRET}@a.org?token=${SECRET}`), "request"],
  ["a fragment", get(`/a#${SECRET}`), "request"],
  [
    "a cookie, a password and a referrer",
    get("/", `Cookie: ${SECRET}`, `Authorization: ${SECRET}`, `Referer: http://a.org/?${SECRET}`),
    "request",
  ],
  [
    "an origin with a password and a query",
    post("/example-pages/echo", FORM, "", `Origin: https://${SECRET}:${SECRET}@a.org/?${SECRET}`),
    "cross-origin request rejected",
  ],
  ["the body of a form", post("/example-pages/large-form", FORM, `a=${SECRET}`), "request"],
  [
    "an upgrade",
    get(`/front?token=${SECRET}`, "Upgrade: websocket", "Sec-WebSocket-Version: 13").replace(
      CLOSE,
      "Connection: Upgrade",
    ),
    "upgrade",
  ],
  [
    "a report",
    post("/browser-reports", "application/reports+json", JSON.stringify(TEXTS.map(report))),
    "browser report",
  ],
  ...TEXTS.map((text): [string, string, string] => [
    `a report in the older form, of ${text.slice(0, 8)}`,
    post(
      "/browser-reports",
      "application/csp-report",
      JSON.stringify({ "csp-report": { "document-uri": text, "blocked-uri": text, "source-file": text } }),
    ),
    "browser report",
  ]),
])("of %s, nothing private is logged", async (_label, bytes, msg) => {
  const before = server.lines.length;
  const logged = () => server.lines.slice(before);
  await exchange(server.url, bytes);
  for (const text of [msg, msg === "upgrade" ? msg : "request"]) {
    await expect.poll(() => logged().map((line) => line.msg)).toContainEqual(expect.stringContaining(text));
  }
  expect(logged().filter((line) => JSON.stringify(line).includes(SECRET))).toEqual([]);
});
