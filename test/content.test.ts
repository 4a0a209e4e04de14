import type { Page } from "playwright-core";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";

// The only tests that know what the pages say, how much room that takes, and how they are coloured.
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

/** What a page says, as an object of PAGES. */
const contentOf = (page: Page) =>
  page.evaluate(() => ({
    path: location.pathname,
    title: document.title,
    description: document.querySelector<HTMLMetaElement>("meta[name=description]")?.content,
    texts: [...document.querySelectorAll("main > *")].map((element) => element.textContent),
  }));

test.for(PAGES)("$path: the document", async ({ path, title, description, texts }, { server }) => {
  const html = await (await fetch(server.url + path)).text();
  expect(html).toContain(`<title>${title}</title>`);
  expect(html).toContain(`<meta name="description" content="${description}"/>`);
  expect(html).toContain(`<meta property="og:title" content="${title}"/>`);
  for (const text of texts) expect(html).toContain(`>${text}</`);
});

test("/: the greeting's second half is in Chinese, and its hand is hidden from screen readers", async ({
  page,
  server,
}) => {
  await open(page, server.url);
  expect(await page.locator("h1").allTextContents()).toEqual(HOME.texts.slice(0, 1));
  expect(await page.locator("p:lang(zh-Hans)").allTextContents()).toEqual(HOME.texts.slice(1, 2));
  expect(await page.locator("[aria-hidden=true]").allTextContents()).toEqual(HOME.texts.slice(2));
});

test.for(PAGES)("$path: in the browser", async (content, { page, server }) => {
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

test.for(PAGES)("$path: no size has a scroll bar, or cuts anything off", async ({ path }, { page, server }) => {
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

test("without JavaScript, and from the not-found page to home", async ({ browser, server }) => {
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
])("$path: the error page", async ({ path, texts }, { page, grownServer, consoleMessages }) => {
  await open(page, grownServer.url + path);
  expect(await contentOf(page)).toMatchObject({
    title: path === "/example-pages/notes/3" ? NOT_FOUND.title : texts[1],
    texts,
  });
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 500"))).toEqual([]);
});

test.for(COLORS)("the colours, $colorScheme", async ({ colorScheme, ink, paper }, { page, server }) => {
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
