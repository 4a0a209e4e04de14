import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";
import { startServer } from "./support/start-server.ts";

// The only tests with the texts, the layout and the colours of the pages.
const HOME = {
  path: "/",
  title: "Hello World",
  description: "A friendly greeting, in English and Chinese, to whoever comes by.",
  texts: ["Hello World", "欢迎来到我的世界 🌍", "👋"],
};
const NOT_FOUND = {
  path: "/nope",
  title: "Page not found",
  description: "There is no page at this address.",
  texts: ["404", "Oops! Page not found", "Return to Home"],
};
const PAGES = [HOME, NOT_FOUND];
const COLORS = [
  { colorScheme: "light", ink: "#221a4c", paper: "#fdf0ec" },
  { colorScheme: "dark", ink: "#f5f1ff", paper: "#0c0f2c" },
] as const;

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

/** The texts of a page, as an object of PAGES. */
const contentOf = (page: Page) =>
  page.evaluate(() => ({
    path: location.pathname,
    title: document.title,
    description: document.querySelector<HTMLMetaElement>("meta[name=description]")?.content,
    texts: [...document.querySelectorAll("main > *")].map((element) => element.textContent),
  }));

/** HTML without React's escapes in texts and attributes. */
function decode(html: string) {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };
  return html.replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, name) => characters[name] ?? "");
}

test.for(PAGES)("the HTML of $path has the page's texts", async ({ path, title, description, texts }, { server }) => {
  const html = decode(await (await fetch(server.url + path)).text());
  expect(html).toContain(`<title>${title}</title>`);
  expect(html).toContain(`<meta name="description" content="${description}"/>`);
  expect(html).toContain(`<meta property="og:title" content="${title}"/>`);
  for (const text of texts) expect(html).toContain(`>${text}</`);
});

test.for(PAGES)("the browser shows the texts of $path", async (content, { page, server }) => {
  await open(page, server.url + content.path);
  expect(await contentOf(page)).toEqual(content);
});

const WIDTHS = [320, 390, 667, 844, 1280, 1920, 3840];
const HEIGHTS = [480, 844, 320, 375, 720, 1080, 2160];
// A browser at 400 % shows a screen of 1280×720 as one of 320×180.
const ZOOMED = [
  { width: 320, height: 180 },
  { width: 320, height: 256 },
];

test.for(PAGES)("$path has no scroll bar and cuts nothing off, at any size", async ({ path }, { page, server }) => {
  const sizes = [...WIDTHS.flatMap((width) => HEIGHTS.map((height) => ({ width, height }))), ...ZOOMED];
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page, server.url + path);
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

test("without JavaScript, the pages show their texts, and the link leads home", async ({ browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(server.url + NOT_FOUND.path);
  expect(await contentOf(page)).toEqual(NOT_FOUND);
  await page.getByRole("link", { name: "Return to Home" }).click();
  await page.waitForURL(`${server.url}/`);
  expect(await contentOf(page)).toEqual(HOME);
  await page.close();
});

test.for([
  { path: "/example-pages/notes/3", texts: NOT_FOUND.texts },
  { path: "/example-pages/broken/response", texts: ["500", "Oops! Something went wrong", "Return to Home"] },
])("$path shows the error page", async ({ path, texts }, { page, grownServer, consoleMessages }) => {
  await open(page, grownServer.url + path);
  expect(await contentOf(page)).toMatchObject({
    title: path === "/example-pages/notes/3" ? NOT_FOUND.title : texts[1],
    texts,
  });
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 500"))).toEqual([]);
});

test.for(COLORS)("home has the $colorScheme colours", async ({ colorScheme, ink, paper }, { page, server }) => {
  await page.emulateMedia({ colorScheme });
  await open(page, server.url);
  const theme = page.locator(`meta[name=theme-color][media*=${colorScheme}]`);
  expect(await theme.getAttribute("content")).toBe(paper);
  const drawn = await page.evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.documentElement);
    return { color, backgroundColor };
  });
  expect(drawn).toEqual({ color: toRgb(ink), backgroundColor: toRgb(paper) });
});

function toRgb(hex: string) {
  return `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(", ")})`;
}

test("a heading of one long word fits into 320 pixels", async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 568 });
  await open(page, server.url);
  await page.locator("h1").evaluate((heading) => heading.replaceChildren("Rindfleischetikettierungsüberwachung"));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

// From here on: tests of the greeting page only.

test("/: the greeting's second half is in Chinese, and its hand is hidden from screen readers", async ({
  page,
  server,
}) => {
  await open(page, server.url);
  expect(await page.locator("h1").allTextContents()).toEqual(HOME.texts.slice(0, 1));
  expect(await page.locator("p:lang(zh-Hans)").allTextContents()).toEqual(HOME.texts.slice(1, 2));
  expect(await page.locator("[aria-hidden=true]").allTextContents()).toEqual(HOME.texts.slice(2));
});

test("/ has nothing to click", async ({ page, server }) => {
  await open(page, server.url);
  expect(await page.locator("a, button, input, [tabindex]").count()).toBe(0);
});

test.for([
  { reducedMotion: "no-preference", isMoving: true },
  { reducedMotion: "reduce", isMoving: false },
] as const)("with prefers-reduced-motion: $reducedMotion, the hand moves: $isMoving", async (row, { page, server }) => {
  await page.emulateMedia({ reducedMotion: row.reducedMotion });
  await open(page, server.url);
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
    await page.evaluate(() => {
      for (const animation of document.getAnimations()) {
        animation.pause();
        animation.currentTime = Number(animation.effect?.getTiming().duration) / 2; // The top of the bounce.
      }
    });
    const [text, hand] = [await findDrawnRows(page, "main > p"), await findDrawnRows(page, "main > div")];
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
  expect(await (await fetch(`${named.url}${NOT_FOUND.path}`)).text()).not.toContain(address);
  expect(await (await fetch(server.url)).text()).not.toMatch(/canonical|og:url|og:image/);
  await named.stop();
});
