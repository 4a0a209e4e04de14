import type { Browser, ConsoleMessage, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium } from "./support/chromium.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

let server: RunningServer;
let browser: Browser;
let page: Page;
/** Paths that the page asked for, and what it wrote to the console, as the console's arguments. */
let requested: string[];
let written: { type: string; args: unknown[] }[];
/** What a test says that it expects of `written`; all else fails it. */
let expected: typeof written;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), launchChromium()]);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
});

beforeEach(async () => {
  [requested, written, expected] = [[], [], []];
  page = await browser.newPage();
  page.on("request", (request) => requested.push(request.url().replace(server.url, "")));
  page.on("pageerror", (error) => written.push({ type: "page error", args: [error.message] }));
  page.on("console", async (message) => written.push({ type: message.type(), args: await argumentsOf(message) }));
});

afterEach(async () => {
  await page.close();
  expect(written).toEqual(expected);
});

async function argumentsOf(message: ConsoleMessage) {
  const args = await Promise.all(message.args().map((arg) => arg.jsonValue()));
  return args.length > 0 ? args : [message.text()];
}

/** What Chromium itself writes when the document is a 404. */
const DOCUMENT_IS_404 = {
  type: "error",
  args: ["Failed to load resource: the server responded with a status of 404 (Not Found)"],
};
const notFound = (path: string) => ({ type: "error", args: ["Page not found:", path] });

const open = (path: string) => page.goto(server.url + path, { waitUntil: "networkidle" });
const texts = () => page.locator("main > *").allTextContents();

test.each(["/", "/?q=1", "//", "/#top"])("home at %s", async (path) => {
  await open(path);
  expect(await texts()).toEqual(["Hello World", "欢迎来到我的世界 🌍", "👋"]);
  expect(await page.locator("h1").allTextContents()).toEqual(["Hello World"]);
  expect(await page.locator("p").getAttribute("lang")).toBe("zh-Hans");
  expect(await page.locator("a, button, input, [tabindex]").count()).toBe(0);
  expect(await page.title()).toBe("Hello World");
});

test.each([
  "/nope",
  "/nope/",
  "/a//b",
  "/%c%s",
  "/%",
  "/%E0%A4%A",
  "/%2f",
  "/%0a",
  "/index.html",
  "/欢迎",
  `/${"a".repeat(7000)}`,
])("not found at %s", async (path) => {
  const asTyped = encodeURI(path).replaceAll("%25", "%");
  // The router itself warns of an address that can't be decoded.
  const isMalformed = /%(?![\da-f]{2})/i.test(asTyped);
  expected = [DOCUMENT_IS_404, notFound(asTyped)];
  const response = await open(asTyped);
  expect(response?.status()).toBe(404);
  expect(await texts()).toEqual(["404", "Oops! Page not found", "Return to Home"]);
  if (isMalformed) written = written.filter(({ type }) => type !== "warning");
});

test("home and back again make no request but for scripts, and each arrival is written once", async () => {
  await open("/nope?q");
  expect(await page.locator("a").textContent()).toBe("Return to Home");
  const initial = requested.length;
  for (const path of requested) expect(path).toMatch(/^\/(nope\?q|assets\/[\w.-]+\.js|icon\.svg|favicon\.ico)$/);

  await page.locator("a").click();
  await page.locator("h1", { hasText: "Hello World" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  await page.goBack();
  await page.locator("h1", { hasText: "404" }).waitFor();
  await page.goForward();
  await page.goBack();
  await page.locator("h1", { hasText: "404" }).waitFor();
  // Chromium asks for the icon again when the address changes.
  expect(requested.slice(initial).filter((path) => path !== "/icon.svg")).toEqual([]);
  expected = [DOCUMENT_IS_404, notFound("/nope"), notFound("/nope"), notFound("/nope")];
});

test.each([
  ["/", 4],
  ["/nope", 5],
])("%s takes %i scripts and no stylesheet", async (path, scripts) => {
  if (path !== "/") expected = [DOCUMENT_IS_404, notFound(path)];
  await open(path);
  expect(requested.filter((url) => url.endsWith(".js"))).toHaveLength(scripts);
  expect(requested.filter((url) => url.endsWith(".css"))).toEqual([]);
});

test("the route list is on window, and frozen", async () => {
  await open("/");
  const routes = await page.evaluate(() => window.__ROUTES__);
  expect(routes).toMatchObject([
    { id: "home", path: "/", file: "routes/home.tsx" },
    { id: "404", path: "*", file: "routes/not-found.tsx" },
  ]);
  const isFrozen = () => [window.__ROUTES__, ...window.__ROUTES__].every(Object.isFrozen);
  expect(await page.evaluate(isFrozen)).toBe(true);
});

test("without JavaScript both pages are whole, and the link works", async () => {
  const plain = await browser.newPage({ javaScriptEnabled: false });
  await plain.goto(`${server.url}/nope`);
  expect(await plain.locator("h1").textContent()).toBe("404");
  await plain.locator("a").click();
  expect(await plain.locator("h1").textContent()).toBe("Hello World");
  expect(await plain.locator("#root p").textContent()).toBe("欢迎来到我的世界 🌍");
  await plain.close();
});
