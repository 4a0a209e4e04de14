// A release replaces the last release, while tabs are open and a cache has pages of the last release.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, onTestFinished } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { expect, open, test } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const OLD_FOLDER = SITE;

const listAssets = (folder: string) => readdirSync(`${folder}/build/client/assets`);

let newFolder: string;

beforeAll(async () => {
  newFolder = copySite();
  for (const [name, tag] of [
    ["example-pages/event", "<main>"],
    ["routes/home", "<h1>"],
  ] as const) {
    const page = `${newFolder}/app/${name}.tsx`;
    writeFileSync(page, readFileSync(page, "utf8").replace(tag, `${tag}New release`));
  }
  // An edit that uses hooks for the first time.
  const home = `${newFolder}/app/routes/home.tsx`;
  const text = readFileSync(home, "utf8").replace("<main", "<main id={useId()} data-navigate={typeof useNavigate()}");
  writeFileSync(home, `import { useId } from "react";\nimport { useNavigate } from "react-router";\n${text}`);
  appendFileSync(`${newFolder}/app/root.tsx`, 'Object.assign(globalThis, { release: "next" });\n');
  await build(newFolder, { PREVIOUS_BUILD: `${OLD_FOLDER}/build` });
  return () => rmSync(newFolder, { recursive: true });
});

/** Starts the old release. Resolves with a function that replaces it by the new one, at the same URL. */
async function startOldRelease() {
  const old = await startServer({}, OLD_FOLDER);
  const replace = async () => {
    await old.stop();
    const current = await startServer({ PORT: new URL(old.url).port }, newFolder);
    onTestFinished(async () => void (await current.stop()));
  };
  return { url: old.url, replace };
}

const isSameDocument = (page: Page) => page.evaluate(() => "isMarked" in window);
const markDocument = (page: Page) => page.evaluate(() => Object.assign(window, { isMarked: true }));

test("the assets of the last release are in the build", () => {
  const before = listAssets(OLD_FOLDER);
  expect(listAssets(newFolder)).toEqual(expect.arrayContaining(before));
  expect(JSON.parse(readFileSync(`${newFolder}/build/assets.json`, "utf8"))[1]).toEqual(before);
});

test("while both releases run, a balancer finds the scripts of both", async () => {
  const servers = [await startServer({}, OLD_FOLDER), await startServer({}, newFolder)];
  const addresses = servers.map(({ url }) => `server ${new URL(url).host};`);
  const pass = "proxy_pass http://greeting;";
  const assets = `location /assets/ { proxy_next_upstream error timeout http_404; ${pass} }`;
  const nginx = await startNginx(`upstream greeting { ${addresses.join(" ")} }`, pass + assets);
  onTestFinished(async () => {
    await nginx.stop();
    for (const server of servers) await server.stop();
  });
  const before = listAssets(OLD_FOLDER);
  const added = listAssets(newFolder).filter((name) => name.endsWith(".js") && !before.includes(name));
  const missing: string[] = [];
  // Twice, since nginx takes one process after the other.
  for (const name of added.flatMap((name) => [name, name])) {
    if (!(await fetch(`${nginx.url}/assets/${name}`)).ok) missing.push(name);
  }
  expect(added).not.toEqual([]);
  expect(missing).toEqual([]);
});

test("a form in a tab of the last release works, and keeps its input until it is sent", async ({ page }) => {
  const { url, replace } = await startOldRelease();
  await open(page, `${url}/example-pages/tasks`);
  await markDocument(page);
  await page.getByLabel("Task").fill("Sow");
  await replace();
  await page.getByRole("button", { name: "Cut the hedge" }).click();
  await page.getByRole("button", { name: "Cut the hedge" }).waitFor({ state: "detached" });
  expect(await page.getByLabel("Task").inputValue()).toBe("Sow");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Sow" }).waitFor();
  expect(await isSameDocument(page)).toBe(true);
});

test.for([
  ["opened before the release", true],
  ["whose page a shared cache had", false],
] as const)("a tab %s changes to the new release at a navigation", async ([, isOpenedBefore], { page }) => {
  const { url, replace } = await startOldRelease();
  const proxied = `proxy_pass ${url}; proxy_cache cache; proxy_cache_background_update on;`;
  const nginx = await startNginx("", proxied);
  onTestFinished(nginx.stop);
  const failed: string[] = [];
  page.on("response", (response) => response.status() >= 400 && failed.push(response.url()));
  const events = `${nginx.url}/example-pages/events`;
  // As Chromium requests it, since the page varies with it.
  const html = await (await fetch(events, { headers: { "Accept-Encoding": "gzip, deflate, br, zstd" } })).text();
  if (isOpenedBefore) await open(page, events);
  await replace();
  if (!isOpenedBefore) expect(await (await open(page, events))?.text()).toBe(html);
  await markDocument(page);
  // The first response with data names the release. At the latest, the second navigation loads a document.
  await page.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Events" }).waitFor();
  if (await isSameDocument(page)) {
    await page.goBack();
    await page.getByRole("link").last().click();
  }
  await page.getByText("New release").waitFor();
  expect(await isSameDocument(page)).toBe(false);
  expect(failed).toEqual([]);
});

test("after an edit of two pages, with hooks that none used before, and of root.tsx, the file of the packages has the same name", () => {
  const findPackages = (folder: string) => listAssets(folder).filter((name) => /^entry\.client-.*\.js$/.test(name));
  // The new folder has the files of both releases.
  expect(findPackages(newFolder)).toEqual(findPackages(OLD_FOLDER));
  expect(findPackages(newFolder)).toHaveLength(1);
});

test("after such a release, a browser loads at most 10 KB of scripts again", async ({ page }) => {
  /** Resolves with the bytes of the page's scripts that the browser has not cached. */
  const loadScripts = async (url: string) => {
    await open(page, url);
    await page.waitForLoadState("networkidle");
    return page.evaluate(() => {
      const resources = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      const scripts = resources.filter(({ name, transferSize }) => name.endsWith(".js") && transferSize > 0);
      return scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    });
  };
  const { url, replace } = await startOldRelease();
  const before = await loadScripts(url);
  await replace();
  const bytes = await loadScripts(url);
  console.log(`${before} bytes of scripts, and ${bytes} after a release`);
  expect(bytes).toBeLessThanOrEqual(10_000);
  expect(await page.evaluate("release")).toBe("next");
  await page.getByText("New release").waitFor();
  expect(await loadScripts(url)).toBe(0);
});

test("assets of two earlier releases are kept, as long as they have at most 8 MiB together", async () => {
  const previous = mkdtempSync(join(tmpdir(), "previous-"));
  const folder = copySite();
  for (const made of [previous, folder]) onTestFinished(() => rmSync(made, { recursive: true }));
  mkdirSync(`${previous}/client/assets`, { recursive: true });
  const sizes = { "one-a.js": 4, "one-b.js": 4, "two-a.js": 3, "three-a.js": 1 };
  const write = (megabytes: number) => {
    for (const [name, size] of Object.entries(sizes)) {
      writeFileSync(`${previous}/client/assets/${name}`, "a".repeat(size * megabytes));
    }
  };
  writeFileSync(`${previous}/assets.json`, JSON.stringify([["one-a.js", "one-b.js"], ["two-a.js"], ["three-a.js"]]));
  const buildAndList = async () => {
    await build(folder, { PREVIOUS_BUILD: previous });
    return listAssets(folder).filter((name) => name in sizes);
  };
  write(1000);
  expect(await buildAndList()).toEqual(["one-a.js", "one-b.js", "two-a.js"]);
  write(1_000_000);
  expect(await buildAndList()).toEqual(["one-a.js", "one-b.js"]);
  write(2_000_000);
  expect(await buildAndList()).toEqual([]);
});
