import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "./support/chromium.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const ASSETS = "build/client/assets";
/** Bytes, brotli, of what the browser loads before a page is interactive. */
const MOST_BEFORE_INTERACTIVE = 106_000;
/** The same with both toast systems. */
const MOST_WITH_TOASTS = 120_000;
const MOST_SCRIPTS = 5;

let server: RunningServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), launchChromium()]);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
});

const scripts = readdirSync(ASSETS).filter((name) => name.endsWith(".js"));

function brotliSize(names: string[]) {
  return names.reduce((sum, name) => sum + statSync(`${ASSETS}/${name}.br`).size, 0);
}

test.each(["/", "/nowhere"])("%s loads few scripts, and small ones", async (path) => {
  const page = await browser.newPage();
  const loaded = new Set<string>();
  page.on("request", (request) => {
    if (request.resourceType() === "script") loaded.add(request.url().replace(/.*\//, ""));
  });
  await page.goto(server.url + path, { waitUntil: "networkidle" });
  await page.close();
  const size = brotliSize([...loaded]);
  console.log(`${path}: ${loaded.size} scripts, ${size} bytes of at most ${MOST_BEFORE_INTERACTIVE} (brotli)`);
  expect(loaded.size).toBeGreaterThan(0);
  expect(loaded.size).toBeLessThanOrEqual(MOST_SCRIPTS);
  expect(size).toBeLessThanOrEqual(MOST_BEFORE_INTERACTIVE);
});

test.each(["/", "/nowhere"])("%s has its scripts wait for what it shows", async (path) => {
  const page = await browser.newPage();
  const protocol = await page.context().newCDPSession(page);
  const priorities = new Set<string>();
  protocol.on("Network.requestWillBeSent", ({ type, request }) => {
    if (type === "Script") priorities.add(request.initialPriority);
  });
  await protocol.send("Network.enable");
  await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
  await page.close();
  expect([...priorities]).toEqual(["Low"]);
});

test("with both toast systems too the scripts are small", () => {
  expect(scripts).toContainEqual(expect.stringMatching(/^toasters-/));
  const size = brotliSize(scripts);
  console.log(`all scripts: ${size} bytes of at most ${MOST_WITH_TOASTS} (brotli)`);
  expect(size).toBeLessThanOrEqual(MOST_WITH_TOASTS);
});

test.each(scripts)("%s holds no styles and nothing of the framework's development tools", async (name) => {
  const script = readFileSync(`${ASSETS}/${name}`, "utf8");
  const [, inDocument = ""] = /<style[^>]*>(.*?)<\/style>/s.exec(await (await fetch(server.url)).text()) ?? [];
  const inFiles = readdirSync(ASSETS).filter((file) => file.endsWith(".css"));
  const styles = [inDocument, ...inFiles.map((file) => readFileSync(`${ASSETS}/${file}`, "utf8"))].join("");
  const rules = styles.match(/[^{}]+\{[^{}]+\}/g) ?? [];
  expect(rules.length).toBeGreaterThan(20);
  expect(rules.filter((rule) => script.includes(rule))).toEqual([]);
  // What the helpers of @react-router/dev/routes would bring along (app/routes.ts).
  expect(script).not.toContain("A route cannot use the reserved id");
});
