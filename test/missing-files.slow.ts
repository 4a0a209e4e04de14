import type { Page } from "playwright-core";
import { test as base, expect, open } from "./support/fixtures.ts";

// After a release, an old tab loads files that are gone.
const OLD_MS = 120_000;
const BUTTONS = ["Show", "Export"];

const test = base
  // The browser's cache is the context's.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      () =>
        browser.newPage(),
  )
  .extend("reports", async ({ page }) => {
    const reports: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/browser-reports")) reports.push(request.postData() ?? "");
    });
    return reports;
  });

test.override("ignoredMessages", () => /status of 404|Failed to fetch dynamically imported module|reloading page/);

async function openTab(page: Page, url: string, ageMs: number) {
  await open(page, url);
  await page.evaluate((ageMs) => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + ageMs;
  }, ageMs);
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await page.route(/\/assets\/(chart|export|about)-.*\.js/, (route) => route.fulfill({ status: 404 }));
}

const isSameDocument = (page: Page) => page.evaluate(() => "isSameDocument" in window);

test.for(BUTTONS)(
  "%s: an old tab reports that a file is gone, and loads the page again, once",
  async (button, { page, examplesServer, reports }) => {
    await openTab(page, `${examplesServer.url}/example-pages/lazy`, OLD_MS);
    await page.getByRole("button", { name: button }).click();
    await expect.poll(() => isSameDocument(page).catch(() => true)).toBe(false);
    expect(reports).toEqual([expect.stringContaining("Failed to fetch dynamically imported module")]);
    // If the file is missing for good, the page stays.
    // React marks the elements that it has hydrated.
    await page.waitForFunction(() => Object.keys(document.querySelector("button") ?? {}).length > 0);
    await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
    await page.getByRole("button", { name: button }).click();
    await expect.poll(() => reports.length).toBe(2);
    expect(await isSameDocument(page)).toBe(true);
  },
);

test("a page stays as long as it shows what the user has typed", async ({ page, examplesServer, reports }) => {
  await openTab(page, `${examplesServer.url}/example-pages/lazy`, OLD_MS);
  await page.getByRole("textbox").fill("A long note");
  await page.getByRole("button", { name: "Export" }).click();
  await expect.poll(() => reports.length).toBe(1);
  expect(await isSameDocument(page)).toBe(true);
  expect(await page.getByRole("textbox").inputValue()).toBe("A long note");
  // The error page has replaced it.
  await page.getByRole("button", { name: "Show" }).click();
  await expect.poll(() => isSameDocument(page).catch(() => true)).toBe(false);
});

test("after a file was gone, the next page loads as a document", async ({ page, examplesServer, reports }) => {
  await openTab(page, `${examplesServer.url}/example-pages/lazy`, 0);
  await page.getByRole("button", { name: "Export" }).click();
  await expect.poll(() => reports.length).toBe(1);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/"));
  await expect.poll(() => isSameDocument(page).catch(() => true)).toBe(false);
  expect(page.url()).toBe(`${examplesServer.url}/`);
});

test("if a route's file is gone, React Router loads the page again", async ({ page, examplesServer }) => {
  await openTab(page, `${examplesServer.url}/example-pages/lazy`, 0);
  await page.evaluate(() => void window.__reactRouterDataRouter.navigate("/example-pages/about"));
  await expect.poll(() => isSameDocument(page).catch(() => true)).toBe(false);
});
