// The greeting page only. Delete this file with the greeting.
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { startServer } from "react-router-express-server/testing";
import { expect, open, test } from "./support/fixtures.ts";

test("/: the greeting's second half is in Chinese, and its hand is hidden from screen readers", async ({
  page,
  server,
}) => {
  await open(page, server.url);
  expect(await page.locator("h1").allTextContents()).toEqual(["Hello World"]);
  expect(await page.locator("p:lang(zh-Hans)").allTextContents()).toEqual(["欢迎来到我的世界 🌍"]);
  expect(await page.locator("[aria-hidden=true]").allTextContents()).toEqual(["👋"]);
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
  const screenshot = async () => {
    const { data } = PNG.sync.read(await page.screenshot({ clip }));
    return new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
  };
  const shown = await screenshot();
  const element = page.locator(selector);
  await element.evaluate(({ style }: HTMLElement) => style.setProperty("visibility", "hidden"));
  const hidden = await screenshot();
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
  const address = "https://www.example.org/";
  expect(found).toEqual({ canonical: [address], url: [address], pictures: [`${address}preview.jpg`] });
  const picture = await fetch(`${named.url}/preview.jpg`);
  expect([picture.status, picture.headers.get("Content-Type")]).toEqual([200, "image/jpeg"]);
  expect(await (await fetch(`${named.url}/nope`)).text()).not.toContain(address);
  expect(await (await fetch(server.url)).text()).not.toMatch(/canonical|og:url|og:image/);
  await named.stop();
});
