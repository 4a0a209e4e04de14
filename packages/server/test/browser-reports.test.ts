import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "./support/fixtures.ts";
import { readMetric } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";

const SOURCE_POSITIONS = fileURLToPath(new URL("../bin/source-positions.js", import.meta.url));

const REPORTS = "application/reports+json";
const CSP_REPORT = "application/csp-report";

type Server = { url: string; lines: Record<string, unknown>[] };

const send = ({ url }: Server, body: string, type = REPORTS, headers = {}) =>
  fetch(`${url}/browser-reports`, { method: "POST", body, headers: { "Content-Type": type, ...headers } });

const linesOf = ({ lines }: Server, path: string) =>
  lines.filter((line) => line.msg === "browser report" && line["url.path"] === path);

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
    "document-uri": "https://www.example.org/legacy?token=1",
    "effective-directive": "script-src-elem",
    "blocked-uri": "https://evil.example.org/x.js?id=7:30)&token=1",
    "source-file": "https://www.example.org/assets/a.js",
    "line-number": 12,
  },
};

test.for([
  { path: "/violation", body: [VIOLATION], type: REPORTS },
  { path: "/legacy", body: LEGACY, type: CSP_REPORT },
])("a violation at $path is logged without the queries of its URLs, and counted", async (row, { server }) => {
  const name = 'browser_reports_total{type="csp-violation",directive="script-src-elem"}';
  const before = (await readMetric(server, name)) || 0;
  expect((await send(server, JSON.stringify(row.body), row.type)).status).toBe(204);
  await expect.poll(() => linesOf(server, row.path)).toHaveLength(1);
  expect(linesOf(server, row.path)[0]).toMatchObject({
    "browser.report.type": "csp-violation",
    "csp.directive": "script-src-elem",
    "csp.blocked": "https://evil.example.org/x.js",
    "code.file.path": "https://www.example.org/assets/a.js",
    "code.line.number": 12,
    "http.route": "/*",
  });
  await expect.poll(() => readMetric(server, name)).toBe(before + 1);
});

test("the URLs of a stack are logged without queries, with line and column", async ({ server }) => {
  const stack = "at f (https://a.org/x.js?t=1:2&b:10:5)\nat https://a.org/y.js#(a):7:8\nat https://a.org/z.js?c:1:2:x";
  expect((await send(server, JSON.stringify([{ type: "error", url: "/stack", body: { stack } }]))).status).toBe(204);
  await expect.poll(() => linesOf(server, "/stack")).toHaveLength(1);
  const logged = "at f (https://a.org/x.js:10:5)\nat https://a.org/y.js:7:8\nat https://a.org/z.js";
  expect(linesOf(server, "/stack")[0]?.["exception.stacktrace"]).toBe(logged);
});

test.for([
  { what: "malformed JSON", body: "[{", type: REPORTS, status: 400 },
  { what: "another type", body: "[]", type: "application/json", status: 415 },
  { what: "17 KB", body: JSON.stringify([{ type: "x".repeat(17_000) }]), type: REPORTS, status: 413 },
  { what: "another site's", body: "[]", type: REPORTS, headers: { "Sec-Fetch-Site": "cross-site" }, status: 403 },
  { what: "unknown values", body: '[null, 1, [], {"type": {}, "url": [], "body": "x"}]', type: REPORTS, status: 204 },
  {
    what: "odd objects",
    body: '[{"type": {"toString": 1}, "body": {"stack": {"split": 1}}}]',
    type: REPORTS,
    status: 204,
  },
  { what: "malformed paths", body: '[{"url": "https://a.org/%zz"}, {"url": "/%ff"}]', type: REPORTS, status: 204 },
  { what: "no report", body: "{}", type: CSP_REPORT, status: 204 },
])("a report with $what gets $status", async ({ body, type, headers, status }, { server }) => {
  expect((await send(server, body, type, headers)).status).toBe(status);
});

test("an error of a page's script is logged with its stack and the tab's release", async ({
  page,
  server,
  consoleMessages,
}) => {
  await page.goto(`${server.url}/?user=ada#top`);
  await page.evaluate(() => {
    setTimeout(() => {
      throw new TypeError("thrown on purpose");
    });
    Promise.reject(new RangeError("rejected on purpose"));
  });
  await expect.poll(() => linesOf(server, "/").length).toBe(2);
  const release = await page.evaluate(() => window.__reactRouterManifest?.version);
  expect(linesOf(server, "/").map((line) => [line["exception.type"], line["browser.release"]])).toEqual(
    expect.arrayContaining([
      ["TypeError", release],
      ["RangeError", release],
    ]),
  );
  expect(linesOf(server, "/")[0]?.["exception.stacktrace"]).toContain("on purpose");
  consoleMessages.splice(0);
});

test("a component that throws in the browser is reported, and the source maps have its line", async ({
  page,
  server,
  consoleMessages,
}) => {
  await page.goto(`${server.url}/example-pages/about`);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/broken/component"));
  await page.getByRole("heading", { name: "500" }).waitFor();
  await expect.poll(() => linesOf(server, "/example-pages/broken/component").length).toBe(1);
  const [line] = linesOf(server, "/example-pages/broken/component");
  const options = {
    cwd: SITE,
    input: String(line?.["exception.stacktrace"]),
    encoding: "utf8" as const,
  };
  const source = readFileSync(`${SITE}/app/example-pages/broken.tsx`, "utf8").split("\n");
  const thrownIn = source.findIndex((text) => text.includes("secret of the component")) + 1;
  expect(execFileSync(process.execPath, [SOURCE_POSITIONS], options)).toContain(
    `(app/example-pages/broken.tsx:${thrownIn})`,
  );
  consoleMessages.splice(0);
});

// Chromium uses report-to over HTTPS only.
test("a script that the policy blocks is reported by the browser", async ({ page, server, consoleMessages }) => {
  await page.route("**/example-pages/prices", async (route) => {
    const response = await route.fetch();
    const headers = response.headers();
    expect(headers["reporting-endpoints"]).toBe('default="/browser-reports"');
    const policy = headers["content-security-policy"]?.replace("report-to default; ", "") ?? "";
    await route.fulfill({ response, headers: { ...headers, "content-security-policy": policy } });
  });
  await page.goto(`${server.url}/example-pages/prices`);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.src = "https://evil.example.org/x.js";
    document.head.append(script);
  });
  await expect.poll(() => linesOf(server, "/example-pages/prices").length).toBe(1);
  expect(linesOf(server, "/example-pages/prices")[0]).toMatchObject({
    "csp.directive": "script-src-elem",
    "csp.blocked": "https://evil.example.org/x.js",
  });
  consoleMessages.splice(0);
});

// Last, since further lines would be dropped for a second.
test("a flood of reports fills neither the log nor the metrics", async ({ server }) => {
  const body = JSON.stringify(Array.from({ length: 50 }, (_, i) => ({ type: `t${i}`, url: "https://a.org/flood" })));
  await Promise.all(Array.from({ length: 20 }, () => send(server, body)));
  const readSeries = async () => (await (await fetch(`${server.opsUrl}/metrics`)).text()).match(/^browser_rep.*$/gm);
  await expect.poll(readSeries).toContainEqual(expect.stringMatching(/type="other",directive=""} 2\d\d$/));
  expect(await readSeries()).not.toContainEqual(expect.stringContaining('type="t1"'));
  expect(linesOf(server, "/flood").length).toBeLessThan(40);
});

test("a report with many beginnings of URLs takes no longer than another", async ({ server }) => {
  // Even on a busy machine, the shortest of many runs is one that nothing interrupts.
  const findShortest = async (stack: string) => {
    const report = JSON.stringify([{ type: "error", body: { stack } }]);
    const durations: number[] = [];
    for (let run = 0; run < 20; run++) {
      const startedAt = performance.now();
      expect((await send(server, report)).status).toBe(204);
      durations.push(performance.now() - startedAt);
    }
    return Math.min(...durations);
  };
  expect(await findShortest("http:".repeat(3000))).toBeLessThan(8 * (await findShortest("12345".repeat(3000))));
});
