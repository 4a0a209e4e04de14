import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";

test.override("server", ({ examplesServer }) => examplesServer);

/** The styles of the example page that only Tailwind and its reset set. */
const stylesOf = (page: Page) =>
  page.evaluate(() => {
    const read = (selector: string) => getComputedStyle(document.querySelector(`main ${selector}`) as Element);
    return {
      bullet: read("ul").listStyleType,
      item: read("li").paddingLeft,
      button: read("button").backgroundColor,
      link: [read("a").borderTopWidth, read("a").color === read("h1").color],
    };
  });

const WITH_TAILWIND = {
  bullet: "none",
  item: "16px",
  button: "rgba(0, 0, 0, 0)",
  link: ["0px", true],
};

/** How home looks: every property of all that it shows. */
const lookOf = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("html, body, main, main *")].map((element) => {
      for (const animation of element.getAnimations()) animation.cancel();
      return [...getComputedStyle(element)].map(
        (name) => `${name}: ${getComputedStyle(element).getPropertyValue(name)}`,
      );
    }),
  );

test("Tailwind's styles are in one file, and only pages that import Tailwind link to the file", async ({ server }) => {
  const linked = async (path: string) => {
    const html = await (await fetch(server.url + path)).text();
    return [...html.matchAll(/<link [^>]*rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
  };
  const [file = ""] = await linked("/example-pages/prices");
  expect(file).toMatch(/^\/assets\/tailwind-[\w-]{8}\.css$/);
  expect(await linked("/example-pages/dialog")).toEqual([file]);
  for (const path of ["/", "/nowhere", "/example-pages/about"]) expect(await linked(path), path).not.toContain(file);
  const folder = `${inject("examplesFolder")}/build/client/assets`;
  const files = readdirSync(folder).filter((name) => name.endsWith(".css"));
  expect(files.filter((name) => readFileSync(`${folder}/${name}`, "utf8").includes(".max-w-prose{"))).toEqual([
    file.replace("/assets/", ""),
  ]);
  const { headers } = await fetch(server.url + file);
  expect(headers.get("Cache-Control")).toContain("immutable");
});

test("on a first load, a page that imports Tailwind has Tailwind's styles, and not the greeting's", async ({
  page,
  server,
}) => {
  await open(page, `${server.url}/example-pages/prices`);
  expect(await stylesOf(page)).toEqual(WITH_TAILWIND);
});

test.for(["light", "dark"] as const)(
  "a page has every variable of theme.css, with the values of home in the %s scheme",
  async (colorScheme, { page, server }) => {
    const names = [
      ...readFileSync(`${inject("examplesFolder")}/app/theme.css`, "utf8").matchAll(/^ {2}(--[\w-]+):/gm),
    ].map(([, name = ""]) => name);
    const valuesOf = async (path: string) => {
      await open(page, server.url + path);
      const read = (names: string[]) =>
        names.map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(name)]);
      return Object.fromEntries(await page.evaluate(read, names));
    };
    await page.emulateMedia({ colorScheme });
    const values = await valuesOf("/example-pages/prices");
    expect(names.filter((name) => !values[name])).toEqual([]);
    const ofHome = Object.entries(await valuesOf("/")).filter(([, value]) => value);
    expect(ofHome.length).toBeGreaterThan(5);
    expect(values).toMatchObject(Object.fromEntries(ofHome));
  },
);

test("a page shows a small image that it imports", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/prices`);
  const width = () =>
    page
      .locator("li img")
      .first()
      .evaluate((image) => (image as HTMLImageElement).naturalWidth);
  await expect.poll(width).toBe(16);
});

test("after a navigation, a page that imports Tailwind has Tailwind's styles, and home looks as before", async ({
  page,
  server,
}) => {
  await open(page, server.url);
  const look = await lookOf(page);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/prices"));
  await page.getByRole("heading", { name: "Prices" }).waitFor();
  expect(await stylesOf(page)).toEqual(WITH_TAILWIND);
  await page.getByRole("link", { name: "Home" }).click();
  await page.locator(".screen").waitFor();
  expect(await lookOf(page)).toEqual(look);
});
