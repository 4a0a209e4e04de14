import { keepViolations } from "react-router-express-server/testing";
import { expect, open, test } from "./support/fixtures.ts";

test("a page loads the font once, by its preload, and the policy allows it", async ({ page, server }) => {
  const fonts: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "font") fonts.push(request.url());
  });
  await keepViolations(page);
  await open(page, server.url);
  const preload = page.locator("link[rel=preload][as=font]");
  const path = await preload.getAttribute("href");
  const findStatus = () =>
    page.evaluate(() => [...document.fonts].find(({ family }) => family.includes("Inter"))?.status);
  await expect.poll(findStatus).toBe("loaded");
  expect(fonts).toEqual([new URL(String(path), server.url).href]);
  expect(await page.evaluate(() => getComputedStyle(document.body).fontFamily)).toMatch(/^"?Inter"?, "Inter Fallback"/);
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});

test("browsers keep the font for ever", async ({ page, server }) => {
  await page.goto(server.url);
  const path = await page.locator("link[rel=preload][as=font]").getAttribute("href");
  const response = await fetch(new URL(String(path), server.url));
  expect(response.headers.get("Content-Type")).toBe("font/woff2");
  expect(response.headers.get("Cache-Control")).toContain("immutable");
});
