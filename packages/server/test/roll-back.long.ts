// A bad release is rolled back (docs/operating.md), while tabs, a cache in front and browsers have parts of it.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Page, Route } from "playwright-core";
import { findFreePort } from "react-router-express-server/testing";
import { beforeAll, onTestFinished } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

/** On a busy machine, two builds take long. */
const BUILDS_TIMEOUT_MS = 300_000;
const EVENTS = "/example-pages/events";
const LAST_BUILD = "the last build";
const REBUILT = "the last commit, built after the bad build";

/** The folder of each release that a test rolls back to. */
const folders = { [LAST_BUILD]: SITE, [REBUILT]: "" };
let bad: string;

beforeAll(async () => {
  [bad, folders[REBUILT]] = [copySite(), copySite()];
  for (const name of ["event", "events", "tasks"]) {
    const page = `${bad}/app/example-pages/${name}.tsx`;
    writeFileSync(page, readFileSync(page, "utf8").replace("<main>", "<main>Bad release"));
  }
  appendFileSync(`${bad}/app/root.tsx`, 'Object.assign(globalThis, { release: "bad" });\n');
  await build(bad, { PREVIOUS_BUILD: `${SITE}/build` });
  await build(folders[REBUILT], { PREVIOUS_BUILD: `${bad}/build` });
  return () => [bad, folders[REBUILT]].forEach((folder) => void rmSync(folder, { recursive: true }));
}, BUILDS_TIMEOUT_MS);

/** Starts the bad release behind a cache. Resolves with a function that rolls it back and purges the cache. */
async function startBadRelease() {
  const server = await startServer({}, bad);
  const nextPort = await findFreePort();
  const pass =
    "proxy_pass http://greeting; proxy_cache cache; proxy_cache_background_update on; add_header X-Cache $upstream_cache_status;";
  const nginx = await startNginx(
    `upstream greeting { server ${new URL(server.url).host} max_fails=0; server 127.0.0.1:${nextPort} max_fails=0; }`,
    `${pass} location /assets/ { proxy_next_upstream error timeout http_404; ${pass} }`,
  );
  const rollBack = async (name: keyof typeof folders) => {
    const old = await startServer({ PORT: String(nextPort) }, folders[name]);
    await server.stop();
    nginx.purge();
    onTestFinished(async () => {
      await nginx.stop();
      await old.stop();
    });
  };
  return { url: nginx.url, rollBack };
}

const isSameDocument = (page: Page) => page.evaluate(() => "isMarked" in window);
const markDocument = (page: Page) => page.evaluate(() => Object.assign(window, { isMarked: true }));

/** Collects the paths of responses that are errors. */
function collectFailures(page: Page) {
  const failures: string[] = [];
  page.on("response", (response) => response.status() >= 400 && failures.push(new URL(response.url()).pathname));
  return failures;
}

test.for([LAST_BUILD, REBUILT] as const)(
  "after a roll-back to %s, forms in open tabs work, also one that waits meanwhile",
  async (name, { page }) => {
    const { url, rollBack } = await startBadRelease();
    const failures = collectFailures(page);
    await open(page, `${url}/example-pages/tasks`);
    await markDocument(page);
    await page.getByText("Bad release").waitFor();
    await page.getByLabel("Task").fill("Sow");
    const rolledBack = rollBack(name);
    const waitForRollBack = async (route: Route) => {
      await rolledBack;
      await route.continue();
    };
    await page.route("**/tasks.data*", waitForRollBack, { times: 1 });
    await page.getByRole("button", { name: "Cut the hedge" }).click();
    await rolledBack;
    await page.getByRole("button", { name: "Cut the hedge" }).waitFor({ state: "detached" });
    expect(await page.getByLabel("Task").inputValue()).toBe("Sow");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Sow" }).waitFor();
    expect(await isSameDocument(page)).toBe(true);
    expect(failures).toEqual([]);
  },
);

test("after a roll-back to the last build, a tab that misses a script reloads its page, and follows the next link", async ({
  page,
  consoleMessages,
}) => {
  const { url, rollBack } = await startBadRelease();
  const failures = collectFailures(page);
  await open(page, url + EVENTS);
  await rollBack(LAST_BUILD);
  await page.getByRole("link").first().click();
  await page.getByText("Bad release").waitFor({ state: "detached" });
  expect(page.url()).toBe(url + EVENTS);
  await page.getByRole("link").first().click();
  await page.getByRole("heading", { name: "Concert" }).waitFor();
  expect(await page.getByText("Bad release").count()).toBe(0);
  expect(failures).toEqual([expect.stringMatching(/^\/assets\/event-.*\.js$/)]);
  expect(consoleMessages.splice(0)).toContainEqual(expect.stringMatching(NOT_FOUND_MESSAGES));
});

test(`after a roll-back to ${REBUILT}, a tab finds its scripts, and loads a document at the next navigation`, async ({
  page,
}) => {
  const { url, rollBack } = await startBadRelease();
  const failures = collectFailures(page);
  await open(page, url + EVENTS);
  await rollBack(REBUILT);
  await markDocument(page);
  await page.getByRole("link").first().click();
  await page.getByRole("heading", { name: "Concert" }).waitFor();
  if (await isSameDocument(page)) {
    await page.goBack();
    await page.getByRole("link").last().click();
    await page.getByRole("heading", { name: "Reading" }).waitFor();
  }
  await page.getByText("Bad release").waitFor({ state: "detached" });
  expect(await isSameDocument(page)).toBe(false);
  expect(failures).toEqual([]);
});

test.for([LAST_BUILD, REBUILT] as const)(
  "after a roll-back to %s, browsers load the scripts that the bad release has changed, and no others",
  async (name, { page }) => {
    const { url, rollBack } = await startBadRelease();
    const failures = collectFailures(page);
    await open(page, url + EVENTS);
    await page.waitForLoadState("networkidle");
    expect(await page.evaluate("release")).toBe("bad");
    const findInCache = async () => (await fetch(url + EVENTS)).headers.get("X-Cache");
    await expect.poll(findInCache).toBe("HIT");
    await rollBack(name);
    expect(await findInCache()).toBe("MISS");
    expect(await (await open(page, url + EVENTS))?.text()).not.toContain("Bad release");
    await page.waitForLoadState("networkidle");
    expect(await page.evaluate("globalThis.release")).toBe(undefined);
    const scripts = await page.evaluate(() => {
      const resources = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      const scripts = resources.filter(({ name, transferSize }) => name.endsWith(".js") && transferSize > 0);
      return scripts.map(({ name, encodedBodySize }) => ({ name, encodedBodySize }));
    });
    const bytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    console.log(`${bytes} bytes of scripts after a roll-back to ${name}`);
    expect(bytes).toBeLessThanOrEqual(10_000);
    for (const { name } of scripts) {
      const script = await (await fetch(name)).text();
      expect(script).toBe(readFileSync(`${SITE}/build/client${new URL(name).pathname}`, "utf8"));
    }
    expect(scripts).not.toEqual([]);
    expect(failures).toEqual([]);
  },
);
