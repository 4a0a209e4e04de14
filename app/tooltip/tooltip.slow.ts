import type { Page } from "playwright-core";
import { findViolations } from "../../test/support/axe.ts";
import { test as base, expect, open } from "../../test/support/fixtures.ts";

const test = base
  .extend("url", ({ examplesServer }) => `${examplesServer.url}/example-pages/tooltips`)
  // Each page has a context of its own, because its clock is its context's.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      () =>
        browser.newPage(),
  );

test.for([
  { event: "hover", point: (page: Page) => page.getByRole("button", { name: "Delete" }).hover() },
  { event: "focus", point: (page: Page) => page.getByRole("button", { name: "Delete" }).focus() },
])("a tooltip opens on $event and closes on Escape", async ({ point }, { page, url }) => {
  await open(page, url);
  await point(page);
  await page.getByRole("tooltip", { name: "It can be undone" }).waitFor();
  expect(await page.locator(".tooltip").evaluate((element) => getComputedStyle(element).paddingLeft)).toBe("12px");
  await page.keyboard.press("Escape");
  await page.getByRole("tooltip").waitFor({ state: "detached" });
});

test("a tooltip opens without delay after another one", async ({ page, url }) => {
  await page.clock.install();
  await open(page, url);
  await page.clock.pauseAt(Date.now() + 60_000);
  const stateOf = (name: string) => page.getByRole("button", { name }).getAttribute("data-state");
  await page.getByRole("button", { name: "Delete" }).hover();
  await page.clock.runFor(1000);
  await expect.poll(() => stateOf("Delete")).toBe("delayed-open");
  // A pointer may be on its way into the tooltip, until it is further away.
  for (const y of [2, 18, 17]) await page.getByRole("button", { name: "Keep" }).hover({ position: { x: 40, y } });
  await expect.poll(() => stateOf("Keep")).toBe("instant-open");
});

test("a tooltip opens in the main landmark, also after a navigation", async ({ page, examplesServer }) => {
  await open(page, `${examplesServer.url}/`);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/tooltips"));
  await page.getByRole("button", { name: "Delete" }).hover();
  await page.locator("main .tooltip").waitFor();
});

test.for(["light", "dark"] as const)(
  "axe finds nothing while a tooltip is open: %s",
  async (colorScheme, { page, url }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, url);
    await page.getByRole("button", { name: "Delete" }).hover();
    await page.getByRole("tooltip").waitFor({ state: "attached" });
    expect(await findViolations(page)).toEqual([]);
  },
);

test("a tooltip follows light and dark", async ({ page, url }) => {
  await open(page, url);
  await page.getByRole("button", { name: "Delete" }).hover();
  const background = () => page.locator(".tooltip").evaluate((element) => getComputedStyle(element).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(background).not.toBe(light);
});
