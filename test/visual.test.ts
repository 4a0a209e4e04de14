import { readdirSync, statSync } from "node:fs";
import { HtmlValidate } from "html-validate";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { PNG } from "pngjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findViolations } from "./support/axe.ts";
import { launchChromium } from "./support/chromium.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const PATHS = ["/", "/nope"];
const SCHEMES = ["light", "dark"] as const;
const PAGES = PATHS.flatMap((path) => SCHEMES.map((colorScheme) => ({ path, colorScheme })));

let server: RunningServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), launchChromium()]);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
});

async function withPage(path: string, options: BrowserContextOptions, look: (page: Page) => Promise<void>) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  await page.goto(server.url + path, { waitUntil: "load" });
  await look(page);
  await page.close();
}

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

function luminancesOf({ data }: PNG) {
  const found = new Set<number>();
  for (let i = 0; i < data.length; i += 4) found.add(luminance([...data.subarray(i, i + 3)]));
  return [...found];
}

test.each([
  ...PAGES,
  { path: "/", colorScheme: "light" as const, reducedMotion: "reduce" as const, viewport: { width: 320, height: 480 } },
  {
    path: "/nope",
    colorScheme: "dark" as const,
    reducedMotion: "reduce" as const,
    viewport: { width: 320, height: 480 },
  },
])("axe finds nothing: $path $colorScheme", async ({ path, ...options }) => {
  await withPage(path, options, async (page) => {
    expect(await findViolations(page)).toEqual([]);
  });
});

test.each(PAGES)(
  "text stands out from every point of the gradient: $path $colorScheme",
  async ({ path, colorScheme }) => {
    await withPage(path, { colorScheme }, async (page) => {
      const colors = await page
        .locator("h1, p, a")
        .evaluateAll((all) => all.map((text) => getComputedStyle(text).color));
      expect(colors.length).toBeGreaterThanOrEqual(2);
      await page.locator(".screen").evaluate((screen) => {
        for (const child of screen.children) (child as HTMLElement).style.visibility = "hidden";
      });
      const background = luminancesOf(await screenshot(page));
      expect(background.length).toBeGreaterThan(50);
      for (const color of colors) {
        const ink = luminance(color.match(/\d+/g)?.map(Number) ?? []);
        expect(Math.min(...background.map((point) => contrast(ink, point)))).toBeGreaterThanOrEqual(4.5);
      }
    });
  },
);

const WIDTHS = [320, 390, 667, 844, 1280, 1920, 3840];
const HEIGHTS = [480, 844, 320, 375, 720, 1080, 2160];
// A browser at 400 % shows a screen of 1280×720 as one of 320×180.
const ZOOMED = [
  { width: 320, height: 180 },
  { width: 320, height: 256 },
];

test.each(PATHS)("no size has a scroll bar, or cuts anything off: %s", async (path) => {
  const sizes = [...WIDTHS.flatMap((width) => HEIGHTS.map((height) => ({ width, height }))), ...ZOOMED];
  await withPage(path, { reducedMotion: "reduce" }, async (page) => {
    for (const size of sizes) {
      await page.setViewportSize(size);
      const { scroll, boxes } = await page.evaluate(() => ({
        scroll: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
        boxes: [...document.querySelectorAll(".screen > *")].map((child) => child.getBoundingClientRect().toJSON()),
      }));
      expect(scroll, JSON.stringify(size)).toEqual([size.width, size.height]);
      for (const box of boxes) {
        expect(Math.min(box.left, box.top), JSON.stringify(size)).toBeGreaterThanOrEqual(0);
        expect(box.right, JSON.stringify(size)).toBeLessThanOrEqual(size.width);
        expect(box.bottom, JSON.stringify(size)).toBeLessThanOrEqual(size.height);
      }
    }
  });
});

test.each(PATHS)("nothing shifts while %s loads", async (path) => {
  await withPage(path, {}, async (page) => {
    await page.waitForLoadState("networkidle");
    const shifts = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => resolve(list.getEntries().length)).observe({
            type: "layout-shift",
            buffered: true,
          });
          setTimeout(() => resolve(0), 500);
        }),
    );
    expect(shifts).toBe(0);
  });
});

test("the hand bounces, and holds still for who prefers that", async () => {
  const looksTheSame = async (reducedMotion: "reduce" | "no-preference") => {
    let same = false;
    await withPage("/", { reducedMotion }, async (page) => {
      const first = await page.screenshot();
      await page.waitForTimeout(400);
      same = first.equals(await page.screenshot());
    });
    return same;
  };
  expect(await looksTheSame("no-preference")).toBe(false);
  expect(await looksTheSame("reduce")).toBe(true);
});

test.each(SCHEMES)("forced colours keep text, link and focus visible: %s", async (colorScheme) => {
  await withPage("/nope", { colorScheme, forcedColors: "active" }, async (page) => {
    const before = await screenshot(page);
    const tones = luminancesOf(before);
    expect(contrast(Math.min(...tones), Math.max(...tones))).toBeGreaterThanOrEqual(4.5);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Return to Home");
    expect((await screenshot(page)).data.equals(before.data)).toBe(false);
    const outline = await page.locator("a").evaluate((link) => getComputedStyle(link).outline);
    expect(outline).toMatch(/ solid 3px$/);
  });
});

test.each(PAGES)("prints black on white: $path $colorScheme", async ({ path, colorScheme }) => {
  await withPage(path, { colorScheme }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme });
    expect(await page.locator("h1").evaluate((heading) => getComputedStyle(heading).color)).toBe("rgb(0, 0, 0)");
    const { data } = await screenshot(page);
    expect([...data.subarray(0, 3)]).toEqual([255, 255, 255]);
  });
});

test.each(PATHS)("%s is valid HTML", async (path) => {
  const html = await (await fetch(server.url + path)).text();
  const validator = new HtmlValidate({ extends: ["html-validate:standard", "html-validate:a11y"] });
  const { results } = await validator.validateString(html);
  expect(results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`))).toEqual([]);
});

test.each(PATHS)("no rule inside %s is there for nothing", async (path) => {
  const other = path === "/" ? "/nope" : "/";
  await withPage(path, {}, async (page) => {
    const html = await (await fetch(server.url + other)).text();
    const unused = await page.evaluate((otherHtml) => {
      const pages = [document, new DOMParser().parseFromString(otherHtml, "text/html")];
      const selectors = (rules: CSSRuleList): string[] =>
        [...rules].flatMap((rule) => [
          ...(rule instanceof CSSStyleRule ? [rule.selectorText] : []),
          ...("cssRules" in rule && !(rule instanceof CSSKeyframesRule) ? selectors(rule.cssRules as CSSRuleList) : []),
        ]);
      return [...document.styleSheets]
        .flatMap((sheet) => selectors(sheet.cssRules))
        .map((selector) => selector.replace(/:(hover|focus-visible)/g, ""))
        .filter((selector) => !pages.some((one) => one.querySelector(selector)));
    }, html);
    expect(unused).toEqual([]);
  });
});

test("icons and the rest of public/ are small", () => {
  const sizes = readdirSync("public").map((name) => statSync(`public/${name}`).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(40 * 1024);
});
