import type { Page } from "playwright-core";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";

// The texts and the colours of the two pages.
const HOME = {
  path: "/",
  title: "Hello World",
  description: "A friendly greeting, in English and Chinese, to every visitor.",
  texts: ["Hello World", "欢迎来到我的世界 🌍", "👋"],
};
const NOT_FOUND = {
  path: "/nope",
  title: "Page not found",
  description: "There is no page at this address.",
  texts: ["👋", "404", "Oops! Page not found", "Return to Home"],
};
const PAGES = [HOME, NOT_FOUND];
const COLORS = [
  { colorScheme: "light", ink: "#221a4c", paper: "#fdf0ec" },
  { colorScheme: "dark", ink: "#f5f1ff", paper: "#121645" },
] as const;

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

/** The path of a page, and which of the texts it shows, as an object of PAGES. */
const contentOf = async (page: Page, siteUrl: string, texts: string[]) => ({
  path: page.url().slice(siteUrl.length),
  ...(await page.evaluate(
    (texts) => ({
      title: document.title,
      description: document.querySelector<HTMLMetaElement>("meta[name=description]")?.content,
      texts: texts.filter((text) => document.querySelector("main")?.textContent.includes(text)),
    }),
    texts,
  )),
});

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
  for (const text of texts) expect(html.slice(html.indexOf("<main"))).toContain(text);
});

test.for(PAGES)("the browser shows the texts of $path", async (content, { page, server }) => {
  await open(page, server.url + content.path);
  expect(await contentOf(page, server.url, content.texts)).toEqual(content);
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
  expect(await contentOf(page, server.url, NOT_FOUND.texts)).toEqual(NOT_FOUND);
  await page.getByRole("link", { name: "Return to Home" }).click();
  await page.waitForURL(`${server.url}/`);
  expect(await contentOf(page, server.url, HOME.texts)).toEqual(HOME);
  await page.close();
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
