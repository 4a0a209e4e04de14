// The greeting page, and what the pixels of both pages show. Delete this file with the greeting.
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { startServer } from "react-router-express-server/testing";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";
import { readHtml } from "./support/read-html.ts";

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

test("/: the greeting's second half is in Chinese, and its hand is hidden from screen readers", async ({
  page,
  server,
}) => {
  await open(page, server.url);
  expect(await page.locator("h1").allTextContents()).toEqual(["Hello World"]);
  expect(await page.locator("p:lang(zh-Hans)").allTextContents()).toEqual(["欢迎来到我的世界 🌍"]);
  expect(await page.locator("[aria-hidden=true]").allTextContents()).toEqual(["👋"]);
});

test("each page shows these texts and no further ones", async ({ page, server }) => {
  const texts = async () => await page.locator("main > *").allTextContents();
  await open(page, server.url);
  expect(await texts()).toEqual(["Hello World", "欢迎来到我的世界 🌍", "👋"]);
  await open(page, `${server.url}/nope`);
  expect(await texts()).toEqual(["👋", "404", "Oops! Page not found", "Return to Home"]);
});

test("a navigation home makes no requests, and shows the HTML of the server", async ({ page, server }) => {
  await open(page, `${server.url}/nope`);
  await page.waitForLoadState("networkidle");
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.locator("main a").click();
  await page.waitForURL(`${server.url}/`);
  // Without the attributes that make the heading focusable, and those of a view transition.
  const plain = (html = "") => html.replace(/ (tabindex="-1"|style=""|vt-\w+="\w+")/g, "");
  const main = async () => plain(await page.locator("main").evaluate((main) => main.outerHTML));
  await expect.poll(main).toBe(await readHtml(page, server.url, "main"));
  // Chromium requests the icon again when the URL changes.
  expect(requested.filter((url) => !url.endsWith("/icon.svg"))).toEqual([]);
});

test("/ has nothing to click", async ({ page, server }) => {
  await open(page, server.url);
  expect(await page.locator("a, button, input, [tabindex]").count()).toBe(0);
});

/** They may have ended while the page was loading. */
async function restartAnimations(page: Page) {
  await page.locator(".hand").evaluate((hand: HTMLElement) => {
    hand.style.display = "none";
    hand.getBoundingClientRect();
    hand.style.removeProperty("display");
  });
}

test.for([
  { reducedMotion: "no-preference", isMoving: true },
  { reducedMotion: "reduce", isMoving: false },
] as const)("with prefers-reduced-motion: $reducedMotion, the hand moves: $isMoving", async (row, { page, server }) => {
  await page.emulateMedia({ reducedMotion: row.reducedMotion });
  await open(page, server.url);
  await restartAnimations(page);
  expect((await page.evaluate(() => document.getAnimations().length)) > 0).toBe(row.isMoving);
  const first = await page.screenshot();
  await expect.poll(async () => !first.equals(await page.screenshot())).toBe(row.isMoving);
});

/** The width, in pixels, of the part of the page that is compared. */
const MIDDLE = 300;

/** The top and bottom of the pixels that change in the page's middle if an element is hidden. */
async function findDrawnRows(page: Page, selector: string) {
  const { width, height } = page.viewportSize() as { width: number; height: number };
  const clip = { x: width / 2 - MIDDLE / 2, y: 0, width: MIDDLE, height };
  const takePixels = async () => pixelsOf(PNG.sync.read(await page.screenshot({ clip })));
  const shown = await takePixels();
  const element = page.locator(selector);
  await element.evaluate(({ style }: HTMLElement) => style.setProperty("visibility", "hidden"));
  const hidden = await takePixels();
  await element.evaluate(({ style }: HTMLElement) => style.removeProperty("visibility"));
  const changed = shown.map((pixel, index) => Number(pixel !== hidden[index]));
  return { top: Math.floor(changed.indexOf(1) / MIDDLE), bottom: Math.ceil(changed.lastIndexOf(1) / MIDDLE) };
}

test("the hand rests within five seconds, and moves without layout or paint", async ({ page, server }) => {
  await open(page, server.url);
  await restartAnimations(page);
  const animations = await page.evaluate(() =>
    document.getAnimations().map(({ effect }) => ({
      end: Number(effect?.getComputedTiming().endTime),
      properties: (effect as KeyframeEffect).getKeyframes().flatMap((frame) => Object.keys(frame)),
    })),
  );
  expect(animations).toHaveLength(2);
  for (const { end, properties } of animations) {
    expect(end).toBeLessThan(5000);
    const animated = properties.filter((name) => !/^(offset|computedOffset|easing|composite)$/.test(name));
    expect(new Set(animated)).toEqual(new Set(["transform"]));
  }
});

test.for([
  [320, 480],
  [320, 568],
  [390, 844],
  [844, 390],
  [1440, 900],
  [3440, 1440],
] as const)(
  "on %d × %d pixels all is in view, and the hand never comes near the text",
  async (size, { page, server }) => {
    const [width, height] = size;
    await page.setViewportSize({ width, height });
    await open(page, server.url);
    await restartAnimations(page);
    await page.evaluate(() => {
      for (const animation of document.getAnimations()) {
        animation.pause();
        animation.currentTime = Number(animation.effect?.getTiming().duration) / 2; // The top of the bounce.
      }
    });
    const [text, hand] = [await findDrawnRows(page, "main > p"), await findDrawnRows(page, ".hand > span")];
    expect(hand.top - text.bottom).toBeGreaterThanOrEqual((hand.bottom - hand.top) / 3);
    // Some of the screen is left on each side, and most of it is used.
    const heading = await findDrawnRows(page, "h1");
    expect(hand.bottom - heading.top).toBeLessThan(height * 0.9);
    expect(hand.bottom - heading.top).toBeGreaterThan(Math.min(width, height) * 0.4);
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)).toBe(true);
  },
);

test("the canonical link and Open Graph tags of / have absolute URLs if ORIGIN is set", async ({ page, server }) => {
  const named = await startServer({ ORIGIN: "https://www.example.org" });
  await open(page, named.url);
  const found = await page.evaluate(() => ({
    canonical: [...document.querySelectorAll<HTMLLinkElement>("link[rel=canonical]")].map(({ href }) => href),
    url: [...document.querySelectorAll<HTMLMetaElement>("meta[property='og:url']")].map(({ content }) => content),
    pictures: [...document.querySelectorAll<HTMLMetaElement>("meta[property='og:image']")].map(
      ({ content }) => content,
    ),
  }));
  const canonical = `https://www.example.org${new URL(page.url()).pathname}`;
  expect(found).toEqual({ canonical: [canonical], url: [canonical], pictures: [`${canonical}preview.jpg`] });
  const picture = await fetch(`${named.url}/preview.jpg`);
  expect([picture.status, picture.headers.get("Content-Type")]).toEqual([200, "image/jpeg"]);
  expect(await (await fetch(`${named.url}/nope`)).text()).not.toContain(canonical);
  expect(await (await fetch(server.url)).text()).not.toMatch(/canonical|og:url|og:image/);
  await named.stop();
});

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
