import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";

const SOURCE_POSITIONS = fileURLToPath(new URL("../bin/source-positions.js", import.meta.url));

const REPORTS = "application/reports+json";

type Server = { url: string; lines: Record<string, unknown>[] };

const send = ({ url }: Server, body: string, type = REPORTS, headers = {}) =>
  fetch(`${url}/browser-reports`, { method: "POST", body, headers: { "Content-Type": type, ...headers } });

const linesOf = ({ lines }: Server, path: string) =>
  lines.filter((line) => line.msg === "browser report" && line["url.path"] === path);

test("a report of another site's page gets 403", async ({ server }) => {
  expect((await send(server, "[]", REPORTS, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
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
