import type { RequestListener } from "node:http";
import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import type { Pages } from "../../site/pages.ts";
import { errorHandler } from "../errors/handle-errors.ts";
import { browserReports } from "./collect-reports.ts";

const REPORTS = "application/reports+json";
const CSP_REPORT = "application/csp-report";

/** Sends a report to an application of its own. */
async function send(body: string, type = REPORTS) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const registry = new Registry();
  const pages = { findRoute: () => ({ route: { pattern: "/*" } }) } as unknown as Pages;
  const app = createExpress().use(...browserReports(log, registry, pages, 1), errorHandler(log));
  const { status } = await request(app as RequestListener)
    .post("/")
    .set("Content-Type", type)
    .send(body);
  return { status, lines, metrics: await registry.metrics() };
}

const VIOLATION = {
  type: "csp-violation",
  url: "https://www.example.org/violation?token=1",
  body: {
    effectiveDirective: "script-src-elem",
    blockedURL: "https://evil.example.org/x.js?id=7:30)&token=1",
    sourceFile: "https://www.example.org/assets/a.js",
    lineNumber: 12,
  },
};
const LEGACY = {
  "csp-report": {
    "document-uri": "https://www.example.org/violation?token=1",
    "effective-directive": "script-src-elem",
    "blocked-uri": "https://evil.example.org/x.js?id=7:30)&token=1",
    "source-file": "https://www.example.org/assets/a.js",
    "line-number": 12,
  },
};

test.each([
  ["the Reporting API", [VIOLATION], REPORTS],
  ["CSP Level 2", LEGACY, CSP_REPORT],
])("a violation as in %s is logged without the queries of its URLs, and counted", async (_label, body, type) => {
  const { status, lines, metrics } = await send(JSON.stringify(body), type);
  expect(status).toBe(204);
  expect(lines).toMatchObject([
    {
      msg: "browser report",
      "browser.report.type": "csp-violation",
      "url.path": "/violation",
      "http.route": "/*",
      "csp.directive": "script-src-elem",
      "csp.blocked": "https://evil.example.org/x.js",
      "code.file.path": "https://www.example.org/assets/a.js",
      "code.line.number": 12,
    },
  ]);
  expect(metrics).toContain('browser_reports_total{type="csp-violation",directive="script-src-elem"} 1\n');
});

test("the URLs of a stack are logged without queries, with line and column", async () => {
  const stack = "at f (https://a.org/x.js?t=1:2&b:10:5)\nat https://a.org/y.js#(a):7:8\nat https://a.org/z.js?c:1:2:x";
  const { lines } = await send(JSON.stringify([{ type: "error", url: "/stack", body: { stack } }]));
  const logged = "at f (https://a.org/x.js:10:5)\nat https://a.org/y.js:7:8\nat https://a.org/z.js";
  expect(lines.map((line) => line["exception.stacktrace"])).toEqual([logged]);
});

test.each([
  ["malformed JSON", "[{", REPORTS, 400, 0],
  ["another type", "[]", "application/json", 415, 0],
  ["17 KB", JSON.stringify([{ type: "x".repeat(17_000) }]), REPORTS, 413, 0],
  ["unknown values", '[null, 1, [], {"type": {}, "url": [], "body": "x"}]', REPORTS, 204, 2],
  ["odd objects", '[{"type": {"toString": 1}, "body": {"stack": {"split": 1}}}]', REPORTS, 204, 1],
  ["malformed paths", '[{"url": "https://a.org/%zz"}, {"url": "/%ff"}]', REPORTS, 204, 2],
  ["no report", "{}", CSP_REPORT, 204, 1],
  ["more than 10 reports", JSON.stringify(Array(11).fill(VIOLATION)), REPORTS, 204, 10],
])(
  "a report with %s gets the right status, and a line for each valid report",
  async (_label, body, type, status, count) => {
    const { lines, ...response } = await send(body, type);
    expect([response.status, lines.length]).toEqual([status, count]);
  },
);
