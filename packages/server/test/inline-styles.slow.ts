import { expect, open, test } from "./support/fixtures.ts";

test.for([
  { path: "/example-pages/dialog", start: undefined },
  { path: "/example-pages/dialog", start: "/example-pages/notes/1" },
  { path: "/example-pages/gallery", start: undefined },
  { path: "/example-pages/gallery", start: "/" },
])("a dialog of $path, after $start, locks the page, and the policy blocks nothing", async (row, { page, server }) => {
  const { path, start } = row;
  await open(page, server.url + (start ?? path));
  if (start) await page.evaluate((path) => void window.__reactRouterDataRouter.navigate(path), path);
  await page.getByRole("heading", { name: "Dialog" }).waitFor();
  const overflow = () => page.evaluate(() => getComputedStyle(document.body).overflow);
  await expect.poll(overflow).toBe("visible");
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Delete" }).click();
      return page.getByRole("dialog", { name: "Delete it?" }).count();
    })
    .toBe(1);
  expect(await overflow()).toBe("hidden");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(overflow).toBe("visible");
});

test("a style attribute works on a page whose policy allows it", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/progress`);
  const bar = page.getByText("42 %");
  const width = (element: Element) => element.getBoundingClientRect().width;
  expect(await bar.evaluate(width)).toBeCloseTo(0.42 * (await page.locator("h1").evaluate(width)), 0);
});
