import { expect, open, test } from "./support/fixtures.ts";

test("the page is sent from memory", async ({ server }) => {
  const response = await fetch(`${server.url}/about`);
  expect(response.status).toBe(200);
  expect(response.headers.get("Cache-Status")).toMatch(/; hit|stored/);
});

test("the page has a title, a description and one heading", async ({ page, server }) => {
  await open(page, `${server.url}/about`);
  expect(await page.title()).toBe("About us");
  expect(await page.locator("meta[name=description]").getAttribute("content")).toContain("Who we are");
  expect(await page.locator("h1").allTextContents()).toEqual(["About us"]);
});
