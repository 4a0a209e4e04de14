// biome-ignore-all lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
// A site below a path, with a production build of its own.
import { rmSync } from "node:fs";
import { keepViolations, startServer } from "react-router-express-server/testing";
import { buildWith } from "../../test/support/copy-project.ts";
import { test as base, expect, open } from "../../test/support/fixtures.ts";

const test = base.extend("below", { scope: "file" }, async ({}, { onCleanup }) => {
  const folder = await buildWith({ basename: "/app/", base: "/app/" });
  const server = await startServer({}, folder);
  onCleanup(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return server;
});

test("below a path, a form's redirect shows its toast, and invalidates the cached page", async ({ page, below }) => {
  const cached = `${below.url}/example-pages/toast-cached`;
  const status = async () => (await fetch(cached)).headers.get("Cache-Status");
  await status();
  expect(await status()).toContain("hit");
  await keepViolations(page);
  await open(page, `${below.url}/example-pages/toast-redirect`);
  await page.getByRole("textbox").fill("Ada");
  await page.getByRole("button", { name: "Save, and open /example-pages/toast-cached" }).click();
  await page.locator(".toast", { hasText: "Saved Ada" }).waitFor();
  expect(page.url()).toBe(cached);
  expect(await status()).toContain("uri-miss");
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});

test("below a path, a page without scripts has the toast as text", async ({ browser, below }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${below.url}/example-pages/toast-redirect`);
  await page.getByRole("textbox").fill("Ada");
  await page.getByRole("button", { name: "Save, and open /example-pages/toast-redirect", exact: true }).click();
  await page.locator("p", { hasText: "Saved Ada" }).waitFor();
  expect(page.url()).toBe(`${below.url}/example-pages/toast-redirect`);
  await context.close();
});
