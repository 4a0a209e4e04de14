import { keepViolations } from "react-router-express-server/testing";
import { findViolations } from "../../test/support/axe.ts";
import { test as base, expect, open } from "../../test/support/fixtures.ts";
import { findHtmlFaults } from "../../test/support/html.ts";

const test = base.extend("url", ({ examplesServer }) => `${examplesServer.url}/example-pages`);

const PAGES = ["walks", "book", "tailwind-in-layout"];
const SCHEMES = ["light", "dark"] as const;
const REJECTED = "error: Failed to load resource: the server responded with a status of 400 (Bad Request)";

test.for(PAGES.flatMap((path) => SCHEMES.map((colorScheme) => ({ path, colorScheme }))))(
  "$path is accessible, keeps to its policy, and doesn't scroll sideways: $colorScheme",
  async ({ path, colorScheme }, { page, url }) => {
    await page.emulateMedia({ colorScheme });
    await keepViolations(page);
    await open(page, `${url}/${path}`);
    for (const width of [320, 375, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await findViolations(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${width} px`).toBe(width);
    }
    expect(await page.evaluate(() => window.violations)).toEqual([]);
  },
);

test.for(PAGES)("%s doesn't scroll sideways on a small screen with text of 200 %", async (path, { page, url }) => {
  await page.setViewportSize({ width: 320, height: 480 });
  await open(page, `${url}/${path}`);
  await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

test.for(PAGES)("%s is valid HTML, and has the layout's styles in a hashed file", async (path, { url }) => {
  const html = await (await fetch(`${url}/${path}`)).text();
  expect(findHtmlFaults(html)).toEqual([]);
  const files = [...html.matchAll(/<link [^>]*rel="stylesheet" href="([^"]+)"/g)].map(([, file]) => file);
  const responses = await Promise.all(files.map((file) => fetch(new URL(file as string, url))));
  for (const { headers } of responses) expect(headers.get("Cache-Control")).toContain("immutable");
  expect((await Promise.all(responses.map((response) => response.text()))).join()).toContain(".layout");
});

test("the skip link shows when it has the focus, and moves the focus to the page", async ({ page, url }) => {
  await open(page, `${url}/walks`);
  const link = page.getByRole("link", { name: "Skip to the content" });
  const clipPath = () => link.evaluate((element) => getComputedStyle(element).clipPath);
  expect(await clipPath()).toBe("inset(50%)");
  await page.keyboard.press("Tab");
  expect(await clipPath()).toBe("none");
  await page.keyboard.press("Enter");
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
  await expect.poll(focused).toBe("content");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("book a place");
});

test("the navigation marks the current page, and controls are easy to hit", async ({ page, url }) => {
  await open(page, `${url}/walks`);
  const current = page.locator("header [aria-current=page]");
  expect(await current.allTextContents()).toEqual(["Walks"]);
  await page.locator("header").getByRole("link", { name: "Book a place" }).click();
  await page.getByRole("heading", { name: "Book a place" }).waitFor();
  expect(await current.allTextContents()).toEqual(["Book a place"]);
  const targets = page.locator(
    "header a, label:has(input), main :is(input:not([type=checkbox]), select, textarea, button)",
  );
  const heights = await targets.evaluateAll((all) => all.map((target) => target.getBoundingClientRect().height));
  expect(heights.length).toBe(9);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
});

test("a rejected form moves the focus to its first fault", async ({ page, url, consoleMessages }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open(page, `${url}/book`);
  const [name, email] = [page.getByLabel("Name"), page.getByLabel("E-mail")];
  const stateOf = (field: typeof name) =>
    field.evaluate((input) => [
      document.activeElement === input,
      input.ariaInvalid,
      document.getElementById(`${input.getAttribute("aria-describedby")}`)?.textContent,
    ]);
  expect(await stateOf(name)).toEqual([false, "false", undefined]);
  await page.getByRole("button", { name: "Book" }).click();
  await expect.poll(() => stateOf(name)).toEqual([true, "true", "Enter your name."]);
  expect(await findViolations(page)).toEqual([]);
  await name.fill("Ada");
  await page.getByRole("button", { name: "Book" }).click();
  await expect.poll(() => stateOf(email)).toEqual([true, "true", expect.stringContaining("Enter an address")]);
  expect(await stateOf(name)).toEqual([false, "false", undefined]);
  await email.fill("ada@example.org");
  await page.getByLabel("I agree").check();
  await page.getByRole("button", { name: "Book" }).click();
  await page.getByText("Ada, your place is booked.").waitFor();
  expect(consoleMessages.splice(0)).toEqual([REJECTED, REJECTED]);
});

test("without scripts, a rejected form shows its errors, and keeps its values", async ({ browser, url }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${url}/book`);
  await page.getByLabel("Name").fill("Ada");
  await page.getByRole("button", { name: "Book" }).click();
  await page.getByText("Enter an address").waitFor();
  expect(await page.locator("[aria-invalid=true]").count()).toBe(2);
  expect(await page.getByLabel("Name").inputValue()).toBe("Ada");
  await page.close();
});

test("Tailwind's utilities take precedence over the layout's styles", async ({ page, url }) => {
  await open(page, `${url}/tailwind-in-layout`);
  const styleOf = (selector: string, property: string) =>
    page.locator(selector).evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  expect(await styleOf("h1", "font-size")).toBe("18px");
  expect(await styleOf("h1", "font-weight")).toBe("700"); // The layout's, over Tailwind's reset.
  expect(await styleOf("main input", "border-radius")).toBe("0px");
  expect(await styleOf("main input", "min-height")).toBe("44px");
  expect(await styleOf("main", "padding-left")).toBe("24px");
  expect(await styleOf("main > p", "margin-top")).toBe("0px");
});

test.for([{ media: "print" }, { contrast: "more" }, { forcedColors: "active" }] as const)(
  "with %j, text is plain, and the focus is visible",
  async (media, { page, url }) => {
    await page.emulateMedia({ colorScheme: "light", ...media });
    await open(page, `${url}/book`);
    const background = await page.locator(".layout").evaluate((layout) => getComputedStyle(layout).backgroundImage);
    expect(background).toBe("none");
    await page.getByLabel("Name").focus();
    const outline = await page.getByLabel("Name").evaluate((input) => getComputedStyle(input).outline);
    expect(outline).toMatch(/ solid 3px$/);
  },
);
