import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { startServer } from "react-router-express-server/testing";
import { afterAll } from "vitest";
import { findViolations } from "../../test/support/axe.ts";
import { build, copyWithExamples } from "../../test/support/copy-project.ts";
import { test as base, expect, open } from "../../test/support/fixtures.ts";

const PAGE = "/example-pages/theme-choice";
const PATHS = [PAGE, "/", "/nowhere"];
const SCHEMES = ["light", "dark"] as const;

const CSS_IMPORT = '@import "./theme-choice/theme-choice.css";\n';

/** What the README adds to the site, and where. */
const ADDITIONS = [
  { file: "app.css", at: /(?<=@import "\.\/theme\.css".*\n)/, text: CSS_IMPORT },
  { file: "tailwind.css", at: /(?<=@import "\.\/theme\.css".*\n)/, text: CSS_IMPORT },
  { file: "root.tsx", at: /^/, text: 'import { ThemeScript } from "./theme-choice/theme";\n' },
  { file: "root.tsx", at: /(?<=<html)/, text: " suppressHydrationWarning" },
  { file: "root.tsx", at: /(?=<Meta \/>)/, text: "<ThemeScript />" },
];

/** Builds a copy of the site with what the README adds, unless the site has it. */
async function buildWithTheme() {
  const folder = copyWithExamples();
  const readme = readFileSync("app/theme-choice/README.md", "utf8");
  for (const { file, at, text } of ADDITIONS) {
    expect(readme).toContain(text.trim());
    const code = readFileSync(`${folder}/app/${file}`, "utf8");
    const added = code.includes(text) ? code : code.replace(at, text);
    expect(added).toContain(text);
    writeFileSync(`${folder}/app/${file}`, added);
  }
  await build(folder);
  return folder;
}

const { url, stop } = await startServer({}, await buildWithTheme());
afterAll(stop);

const test = base
  // Each page has a context of its own, because the choice is its context's.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      async () =>
        (await browser.newContext()).newPage(),
  )
  // Of pages whose scripts don't load, and of error pages.
  .extend("ignoredMessages", () => /^error: (Failed to load resource: .*|Page not found: .*)$/);

/** The colours that the document and the browser's bar have. */
const lookOf = (page: Page) =>
  page.evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.documentElement);
    const bars = [...document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")];
    return { color, backgroundColor, bar: bars.find(({ media }) => matchMedia(media).matches)?.content };
  });

/** How a page looks in each scheme if the user has chosen nothing. */
async function readLooks(page: Page) {
  const looks = [];
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.goto(url + PAGE);
    looks.push(await lookOf(page));
  }
  const [light, dark] = looks;
  expect(light).not.toEqual(dark);
  return { light, dark };
}

const choice = (page: Page) => page.getByRole("combobox", { name: "Theme" });

test.for([
  { colorScheme: "light", chosen: "dark", shown: "dark" },
  { colorScheme: "dark", chosen: "light", shown: "light" },
  { colorScheme: "dark", chosen: "system", shown: "dark" },
] as const)(
  "in a $colorScheme system, the choice of $chosen shows $shown pages, even before the bundle's scripts have loaded",
  async ({ colorScheme, chosen, shown }, { page }) => {
    const looks = await readLooks(page);
    await page.emulateMedia({ colorScheme });
    await open(page, url + PAGE);
    await choice(page).selectOption(chosen);
    expect(await lookOf(page)).toEqual(looks[shown]);
    await page.reload();
    await expect.poll(() => choice(page).inputValue()).toBe(chosen);
    await page.route("**/*.js", (route) => route.abort());
    for (const path of PATHS) {
      await page.goto(url + path);
      expect(await lookOf(page), path).toEqual(looks[shown]);
    }
  },
);

test("until the user chooses, and after the choice of the system, pages follow it", async ({ page }) => {
  const looks = await readLooks(page);
  await open(page, url + PAGE);
  for (const chosen of ["dark", "light", "system"]) await choice(page).selectOption(chosen);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    expect(await lookOf(page)).toEqual(looks[colorScheme]);
  }
});

test.for(SCHEMES)("`dark:` and native controls follow the choice of %s", async (chosen, { page }) => {
  const read = () =>
    page.locator("main p").evaluate((text) => {
      text.style.backgroundColor = "Canvas";
      const { color, backgroundColor } = getComputedStyle(text);
      return { color, backgroundColor };
    });
  await page.emulateMedia({ colorScheme: chosen });
  await open(page, url + PAGE);
  const expected = await read();
  await choice(page).selectOption(chosen);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    expect(await read()).toEqual(expected);
  }
});

test("other tabs follow the choice, whatever page they show", async ({ page }) => {
  const looks = await readLooks(page);
  await page.emulateMedia({ colorScheme: "light" });
  await open(page, url);
  const other = await page.context().newPage();
  await open(other, url + PAGE);
  await choice(other).selectOption("dark");
  await expect.poll(() => lookOf(page)).toEqual(looks.dark);
  await open(page, url + PAGE);
  await choice(page).selectOption("light");
  await expect.poll(() => choice(other).inputValue()).toBe("light");
});

test("a page that comes back from the back/forward cache follows the choice", async ({ page }) => {
  await open(page, url + PAGE);
  await expect.poll(() => choice(page).isEnabled()).toBe(true); // From here on, it receives events.
  await page.evaluate(() => {
    localStorage.setItem("theme", "dark");
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
  });
  await expect.poll(() => choice(page).inputValue()).toBe("dark");
});

test.for(["loader", "component", "not-found"])(
  "the choice stays on the error page: %s",
  async (how, { page, consoleMessages }) => {
    const looks = await readLooks(page);
    await page.emulateMedia({ colorScheme: "light" });
    await open(page, url + PAGE);
    await choice(page).selectOption("dark");
    await page.evaluate((path) => window.__reactRouterDataRouter.navigate(path), `/example-pages/broken/${how}`);
    await choice(page).waitFor({ state: "detached" });
    expect(await lookOf(page)).toEqual(looks.dark);
    consoleMessages.splice(0);
  },
);

test("without scripts, pages follow the system, and the choice is disabled", async ({ browser, page }) => {
  const looks = await readLooks(page);
  for (const colorScheme of SCHEMES) {
    const other = await browser.newPage({ javaScriptEnabled: false, colorScheme });
    await other.goto(url + PAGE);
    expect(await lookOf(other)).toEqual(looks[colorScheme]);
    expect(await choice(other).isDisabled()).toBe(true);
    await other.close();
  }
});

test("if the browser blocks storage, the choice is disabled", async ({ page }) => {
  await page.addInitScript(() => {
    const get = () => {
      throw new DOMException("Access is denied", "SecurityError");
    };
    Object.defineProperty(window, "localStorage", { get });
  });
  await open(page, url + PAGE);
  expect(await choice(page).isDisabled()).toBe(true);
});

test.for(SCHEMES)("axe finds nothing: %s", async (chosen, { page }) => {
  await open(page, url + PAGE);
  await choice(page).selectOption(chosen);
  expect(await findViolations(page)).toEqual([]);
});
