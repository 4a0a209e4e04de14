// The operators' page in Chromium.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pino } from "pino";
import type { Page } from "playwright-core";
import { Registry } from "prom-client";
import { vi } from "vitest";
import { listen } from "../src/process/listener.ts";
import type { OpsCache } from "../src/process/ops-cache.ts";
import { createOpsServer } from "../src/process/ops-server.ts";
import { expect, test } from "./support/fixtures.ts";
import { startServer } from "./support/start-server.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ATTACK = `<img src="x" onerror="document.title = 'attacked'"><script>document.title = 'attacked'</script>`;
const LOOKS = [
  ["light", 1280],
  ["dark", 1280],
  ["light", 375],
  ["dark", 375],
] as const;

/** `name` is that of the picture that SCREENSHOTS=FOLDER saves. */
async function expectLegible(page: Page, url: string, [colorScheme, width]: (typeof LOOKS)[number], name: string) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 800 });
  expect((await page.goto(url))?.status()).toBe(200);
  await page.evaluate(AXE);
  const violations = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))";
  expect(await page.evaluate(violations)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  const { SCREENSHOTS } = process.env;
  const path = `${SCREENSHOTS}/${name}-${colorScheme}-${width}.png`;
  if (SCREENSHOTS) await page.screenshot({ path, fullPage: true });
}

test("the page is legible under load, and shows routes, limits and errors", async ({ page }) => {
  const settings = { POSTS: "down", PAGE_CACHE_MAX_BYTES: "300000", MAX_CONCURRENT_REQUESTS: "12" };
  const server = await startServer(settings);
  const failing = ["/example-pages/posts/1", "/example-pages/broken/loader", "/front/api/throws"];
  const paths = [...Array(50).fill("/"), "/nowhere", "/robots.txt", `/${ATTACK}`, ...failing];
  for (const path of paths) await (await fetch(server.url + path)).text();
  const countLines = () => server.lines.filter(({ msg }) => msg === "request").length;
  await vi.waitUntil(() => countLines() === paths.length, { timeout: 60_000 });
  const leaving = new AbortController();
  const visit = () => fetch(`${server.url}/example-pages/wait/60000`, { signal: leaving.signal }).catch(() => {});
  const visits = Array.from({ length: 40 }, visit);
  await Promise.race(visits); // It is shed.
  for (const look of LOOKS) await expectLegible(page, server.opsUrl, look, "works");
  const limits = page.getByRole("region", { name: "Limits" });
  expect(await limits.getByRole("row", { name: "MAX_CONCURRENT_REQUESTS" }).textContent()).toMatch(/8\D*12/);
  expect(await page.getByText(/\d+ requests \(queue\)/).count()).toBe(1);
  leaving.abort();
  const errors = await page.getByRole("region", { name: "Last errors" }).textContent();
  for (const message of ["page not rendered", "render failed", "request failed", "request: 503"])
    expect(errors).toContain(message);
  const routes = page.getByRole("region", { name: "Requests by route" });
  expect(await routes.getByRole("row", { name: "/example-pages/posts/:id" }).count()).toBe(1);
  const cache = page.getByRole("meter", { name: "PAGE_CACHE_MAX_BYTES" });
  expect(Number(await cache.getAttribute("value"))).toBeGreaterThan(0.1);
  expect(await server.stop()).toBe(0);
});

test("the page of a process that fails is legible, and runs no script of a path or an error", async ({ page }) => {
  const [time, count, share, text] = [{ name: "Last" }, { name: "Times", isNumber: true }, { name: "Share" }, "Error"];
  const full = { text: "95 %", share: 0.95, isBad: true };
  const half = { text: "50 %", share: 0.5 };
  const sections = [
    { heading: "Facts", columns: [{ name: "" }, { name: "", isLong: true }], rows: [["Services", ATTACK]] },
    {
      heading: "Limits",
      columns: [{ name: text, isLong: true }, count, count, share],
      rows: [
        [ATTACK, { text: "950", isBad: true }, "1000", full],
        ["MAX_ENCODERS", "22,000", "1", half],
      ],
    },
    {
      heading: ATTACK,
      note: ATTACK,
      isWide: true,
      columns: [time, count, { name: text, isLong: true }],
      rows: [
        ["01-02 03:04:05", "1", ATTACK],
        ["01-02 03:04:05", "12", "y".repeat(3000)],
      ],
    },
  ];
  const server = createOpsServer({
    registry: new Registry(),
    readReadiness: () => ({ isReady: false, reason: "" }),
    readStatus: async () => ({ title: "a site", state: `not ready: ${ATTACK}`, isGood: false, sections }),
    cache: {} as OpsCache,
    host: undefined,
    log: pino({ enabled: false }),
  });
  const url = `http://127.0.0.1:${await listen(server, 0, "127.0.0.1")}`;
  for (const look of LOOKS) await expectLegible(page, url, look, "fails");
  expect(await page.title()).toBe(`a site: not ready: ${ATTACK}`);
  expect(await page.locator("main img, main script").count()).toBe(0);
  server.close();
});

test("the form purges a path, and shows what happened", async ({ page, server, consoleMessages }) => {
  await page.goto(server.opsUrl.replace("127.0.0.1", "localhost"));
  const heading = page.getByRole("heading", { level: 1 });
  await page.getByRole("textbox", { name: "Path" }).fill("/");
  await page.getByRole("button", { name: "Purge the path" }).click();
  await expect.poll(() => heading.textContent()).toBe("Purged: 1");
  await page.getByRole("textbox", { name: "Path" }).fill("/<b>");
  await page.getByRole("button", { name: "Purge the path" }).click();
  await page.getByText("/<b>: no cached page has this path").waitFor();
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining("404 (Not Found)")]);
  await page.getByRole("checkbox", { name: "All entries" }).check();
  await page.getByRole("button", { name: "Purge all entries" }).click();
  await expect.poll(() => heading.textContent()).toMatch(/^Purged: [1-9]\d*$/);
  await page.getByRole("link", { name: "Look again" }).click();
  await page.getByRole("heading", { name: "Limits" }).waitFor();
});

test("a page of the site can't purge the cache", async ({ page, server, consoleMessages }) => {
  await page.goto(`${server.url}/robots.txt`); // Without a policy of its own, unlike pages.
  await (await fetch(server.url)).text();
  const readCache = async () => (await (await fetch(`${server.opsUrl}/cache`)).json()) as { entries: number }[];
  const before = (await readCache()).map(({ entries }) => entries);
  const url = `${server.opsUrl}/cache/invalidate?all`;
  const send = (target: string) => fetch(target, { method: "POST", mode: "no-cors" }).then(() => "sent");
  await page.evaluate(send, url).catch(() => "stopped");
  expect((await readCache()).map(({ entries }) => entries)).toEqual(before);
  consoleMessages.length = 0;
});
