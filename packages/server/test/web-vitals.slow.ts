import type { Page } from "playwright-core";
import { expect, test } from "./support/fixtures.ts";

const SCRIPT = /\/assets\/web-vitals-/;
const COUNTS = /^web_vitals_(?:seconds|layout_shift)_count\{(.*)\} ([1-9].*)$/gm;

test.override("hasWebVitals", () => true);

/** Resolves once the page has run the script. As a text, since Vitest would replace `import`. */
const waitForScript = (page: Page, url: string) => page.evaluate(`import("${url}").then(() => {})`);

async function readCounts(opsUrl: string): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  return Object.fromEntries(Array.from(metrics.matchAll(COUNTS), ([, labels, count]) => [labels, Number(count)]));
}

test("a visit is measured once under the route of its first page", async ({ page, server }) => {
  for (const visits of [1, 2]) {
    const loaded = page.waitForEvent("requestfinished", (request) => SCRIPT.test(request.url()));
    await page.goto(`${server.url}/example-pages/notes/1?token=1`);
    await waitForScript(page, (await loaded).url());
    await page.mouse.click(5, 5);
    await page.evaluate(() => {
      return new Promise((resolve) => {
        // web-vitals reads the entry when the page is idle.
        new PerformanceObserver(() => requestIdleCallback(resolve)).observe({ type: "first-input", buffered: true });
      });
    });
    await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/about"));
    await page.goto("about:blank");
    await expect
      .poll(() => readCounts(server.opsUrl))
      .toEqual({
        'vital="LCP",http_route="/example-pages/notes/:id"': visits,
        'vital="INP",http_route="/example-pages/notes/:id"': visits,
        'vital="TTFB",http_route="/example-pages/notes/:id"': visits,
        'http_route="/example-pages/notes/:id"': visits,
      });
  }
  expect(server.lines.filter(({ msg }) => msg === "browser report")).toEqual([]);
});

test("a visit whose user goes on before the script has loaded is measured under the route of its first page", async ({
  page,
  server,
}) => {
  await page.clock.install();
  const loaded = page.waitForEvent("requestfinished", (request) => SCRIPT.test(request.url()));
  await page.goto(`${server.url}/example-pages/names/Ada`);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/about"));
  await page.clock.runFor(5000);
  await waitForScript(page, (await loaded).url());
  await page.goto("about:blank");
  const readRoutes = async () => Object.keys(await readCounts(server.opsUrl)).join();
  await expect.poll(readRoutes).toContain('http_route="/example-pages/names/:name"');
  expect(await readRoutes()).not.toContain("about");
});

test.for([
  ["without a preference", {}, 1],
  ["with Global Privacy Control", { globalPrivacyControl: true }, 0],
  ["with Save-Data", { connection: { saveData: true } }, 0],
] as const)("a browser %s (%j) sends %i reports of its visit", async ([, preferences, count], { page, server }) => {
  const scripts: string[] = [];
  page.on("request", (request) => SCRIPT.test(request.url()) && scripts.push(request.url()));
  await page.addInitScript((values) => {
    for (const [name, value] of Object.entries(values)) Object.defineProperty(navigator, name, { value });
  }, preferences);
  // Each visit has a layout shift, of 0 or more.
  const countReports = async () => (await readCounts(server.opsUrl))['http_route="/"'] ?? 0;
  const before = await countReports();
  await page.clock.install();
  await page.goto(server.url);
  await page.clock.runFor(5000);
  await expect.poll(() => scripts.length).toBe(count);
  for (const url of scripts) await waitForScript(page, url);
  await page.waitForLoadState("networkidle");
  await page.goto("about:blank");
  await expect.poll(countReports).toBe(before + count);
  expect(scripts.length).toBe(count);
});
