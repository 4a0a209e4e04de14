// Accessibility, layout and HTML of the start page and of an unknown path. Keep this file without the greeting page.
import { statSync } from "node:fs";
import { findViolations } from "./support/axe.ts";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";
import { findHtmlFaults } from "./support/html.ts";

const PATHS = ["/", "/nope"];
const SCHEMES = ["light", "dark"] as const;
const PAGES = PATHS.flatMap((path) => SCHEMES.map((colorScheme) => ({ path, colorScheme })));
const PHONE = { width: 320, height: 480 };

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

test.for(PAGES)("axe finds no violation: $path $colorScheme", async ({ path, colorScheme }, { page, server }) => {
  await page.emulateMedia({ colorScheme });
  await open(page, server.url + path);
  expect(await findViolations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize(PHONE);
  expect(await findViolations(page)).toEqual([]);
});

test.for(PATHS)("nothing shifts while %s loads", async (path, { page, server }) => {
  await page.addInitScript(() => {
    Object.assign(window, { shifts: 0 });
    new PerformanceObserver((list) => {
      Object.assign(window, { shifts: list.getEntries().length });
    }).observe({ type: "layout-shift", buffered: true });
  });
  await open(page, server.url + path);
  await page.waitForLoadState("networkidle");
  expect(await page.evaluate("shifts")).toBe(0);
});

test.for(PATHS)("%s is valid HTML", async (path, { server }) => {
  const html = await (await fetch(server.url + path)).text();
  expect(findHtmlFaults(html)).toEqual([]);
});

test.for([
  { path: "/", other: "/nope" },
  { path: "/nope", other: "/" },
])("every CSS rule of $path matches an element of $path or $other", async ({ path, other }, { page, server }) => {
  await open(page, server.url + path);
  const html = await (await fetch(server.url + other)).text();
  const unused = await page.evaluate((otherHtml) => {
    const pages = [document, new DOMParser().parseFromString(otherHtml, "text/html")];
    const selectors = (rules: CSSRuleList): string[] =>
      [...rules].flatMap((rule) => [
        ...(rule instanceof CSSStyleRule ? [rule.selectorText] : []),
        ...("cssRules" in rule && !(rule instanceof CSSKeyframesRule) ? selectors(rule.cssRules as CSSRuleList) : []),
      ]);
    return [...document.styleSheets]
      .filter(({ href }) => href === null) // The styles of a layout or of Tailwind are files.
      .flatMap((sheet) => selectors(sheet.cssRules))
      .filter((selector) => !selector.includes("[data-theme=")) // Set by the user's choice.
      .filter((selector) => !selector.startsWith("::view-transition")) // Drawn during a transition only.
      .map((selector) => selector.replace(/:(hover|focus-visible)/g, ""))
      .map((selector) => selector.replace(/(^|\s)::[\w-]+/g, "$1*").replace(/::[\w-]+/g, ""))
      .filter((selector) => !pages.some((one) => one.querySelector(selector)));
  }, html);
  expect(
    unused,
    `Neither page uses these rules: delete them from app/app.css. To Tailwind, a word of a text is a utility, too: for
"table", add the line @source not inline("table"); there`,
  ).toEqual([]);
});

test("the icons and the manifest of the document are small", async ({ server }) => {
  const html = await (await fetch(server.url)).text();
  const links = [...html.matchAll(/<link rel="(?:icon|apple-touch-icon|manifest)" href="([^"]+)"/g)];
  const { pathname: basePath } = new URL(`${server.url}/`);
  const sizes = links.map(([, path = ""]) => statSync(`public/${path.slice(basePath.length)}`).size);
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(40 * 1024);
});
