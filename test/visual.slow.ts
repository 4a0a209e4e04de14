// What the pixels of the two pages show. Delete this file with the greeting page: no script does.
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";

const PATHS = ["/", "/nope"];
const SCHEMES = ["light", "dark"] as const;
const PAGES = PATHS.flatMap((path) => SCHEMES.map((colorScheme) => ({ path, colorScheme })));

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

const screenshot = async (page: Page) => PNG.sync.read(await page.screenshot());

/** Relative luminance of a colour with channels from 0 to 255 (WCAG 2.2). */
function luminance(rgb: number[]) {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const channel = value / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

const pixelsOf = ({ data }: PNG) => new Uint32Array(data.buffer, data.byteOffset, data.length / 4);

/** The luminances of all colours of a picture. */
function luminancesOf(picture: PNG) {
  return [...new Set(pixelsOf(picture))].map((pixel) =>
    luminance([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]),
  );
}

test.for(PAGES)(
  "text stands out from every point of the gradient: $path $colorScheme",
  async ({ path, colorScheme }, { page, server }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, server.url + path);
    const colors = await page
      .locator("h1, p, a")
      // A filled link stands out by its own colour.
      .evaluateAll((all) => all.map((text) => getComputedStyle(text)[text.matches("a") ? "backgroundColor" : "color"]));
    expect(colors.length).toBeGreaterThanOrEqual(2);
    await page.locator(".screen").evaluate((screen) => {
      for (const child of screen.children) (child as HTMLElement).style.visibility = "hidden";
    });
    const background = luminancesOf(await screenshot(page));
    expect(background.length).toBeGreaterThan(50);
    for (const color of new Set(colors)) {
      const ink = luminance(color.match(/\d+/g)?.map(Number) ?? []);
      expect(Math.min(...background.map((point) => contrast(ink, point)))).toBeGreaterThanOrEqual(4.5);
    }
  },
);

test.for(SCHEMES)("forced colours keep text, link and focus visible: %s", async (colorScheme, { page, server }) => {
  await page.emulateMedia({ colorScheme, forcedColors: "active" });
  await open(page, `${server.url}/nope`);
  const before = await screenshot(page);
  const tones = luminancesOf(before);
  expect(contrast(Math.min(...tones), Math.max(...tones))).toBeGreaterThanOrEqual(4.5);
  await page.keyboard.press("Tab");
  expect(await page.locator("main a").evaluate((link) => link === document.activeElement)).toBe(true);
  expect((await screenshot(page)).data.equals(before.data)).toBe(false);
  const outline = await page.locator("main a").evaluate((link) => getComputedStyle(link).outline);
  expect(outline).toMatch(/ solid 3px$/);
});

test.for(PAGES)("prints black on white: $path $colorScheme", async ({ path, colorScheme }, { page, server }) => {
  await page.emulateMedia({ media: "print", colorScheme });
  await open(page, server.url + path);
  expect(await page.locator("h1").evaluate((heading) => getComputedStyle(heading).color)).toBe("rgb(0, 0, 0)");
  const { data } = await screenshot(page);
  expect([...data.subarray(0, 3)]).toEqual([255, 255, 255]);
});
