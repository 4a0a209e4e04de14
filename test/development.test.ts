import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium } from "./support/chromium.ts";
import { copyAndGrow } from "./support/copy-project.ts";

let folder: string;
let development: ChildProcess;
let url: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  folder = copyAndGrow();
  // In a process group of its own, since npm starts others.
  development = spawn("npm", ["run", "dev"], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  url = await new Promise((resolve) => {
    createInterface({ input: development.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const [address] = /http:\/\/localhost:\d+/.exec(line) ?? [];
      if (address) resolve(address);
    });
  });
  browser = await launchChromium();
  context = await browser.newContext();
});

afterAll(async () => {
  await browser.close();
  process.kill(-(development.pid as number));
  await once(development, "exit");
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  complaints = [];
  page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
});

afterEach(async () => {
  await page.close();
  expect(complaints).toEqual([]);
});

/** Resolves when the page is hydrated; React's development build writes what hydration finds different. */
async function open(path: string) {
  await page.goto(url + path);
  await page.waitForFunction(() => Object.keys(document.body).some((key) => key.startsWith("__reactProps")));
}

async function mark() {
  await page.evaluate(() => Object.assign(window, { isMarked: true }));
}
const isMarked = () => page.evaluate(() => "isMarked" in window);

function edit(path: string, from: string, to: string) {
  const text = readFileSync(`${folder}/${path}`, "utf8");
  expect(text).toContain(from);
  writeFileSync(`${folder}/${path}`, text.replace(from, to));
}

test.each(["/", "/about", "/notes/1", "/sign-up", "/weather", "/docs/setup/linux", "/visitors/ada", "/app-shell"])(
  "%s is hydrated without a warning",
  async (path) => {
    await open(path);
    await page.waitForLoadState("networkidle");
  },
);

test.each([
  ["/", 200],
  ["/temperature", 200],
  ["/nowhere", 404],
  ["/notes/3", 404],
  ["/broken/component", 500],
])("%s is answered with %d", async (path, status) => {
  expect((await fetch(url + path)).status).toBe(status);
});

test("a page's change shows, without loading the page anew", async () => {
  await open("/weather");
  await mark();
  edit("app/routes/weather.tsx", "<h1>Weather</h1>", "<h1>Climate</h1>");
  await page.getByRole("heading", { name: "Climate" }).waitFor();
  expect(await isMarked()).toBe(true);
  expect(await (await fetch(`${url}/weather`)).text()).toContain("Climate</h1>");
});

test("a loader's change shows, without loading the page anew", async () => {
  await open("/notes/1");
  await mark();
  edit("app/routes/note.tsx", "Buy milk", "Buy oats");
  await page.getByRole("heading", { name: "Buy oats" }).waitFor();
  expect(await isMarked()).toBe(true);
});

test("a style's change shows, without loading the page anew", async () => {
  await open("/");
  await mark();
  edit("app/app.css", "letter-spacing: -0.03em", "letter-spacing: 7px");
  const spacing = () => page.locator("h1").evaluate((heading) => getComputedStyle(heading).letterSpacing);
  await expect.poll(spacing).toBe("7px");
  expect(await isMarked()).toBe(true);
});

test("a new page shows: a file, and a line in app/routes.ts", async () => {
  writeFileSync(`${folder}/app/routes/new.tsx`, "export default function New() {\n  return <h1>New</h1>;\n}\n");
  edit("app/routes.ts", "[\n", '[\n  { id: "new", path: "/new", file: "routes/new.tsx" },\n');
  await expect.poll(async () => (await fetch(`${url}/new`)).status).toBe(200);
  await open("/new");
  await page.getByRole("heading", { name: "New" }).waitFor();
});

test("a server file's change shows", async () => {
  edit("server/middleware/security-headers.ts", '"X-Frame-Options": "DENY"', '"X-Frame-Options": "SAMEORIGIN"');
  await expect.poll(async () => (await fetch(url)).headers.get("X-Frame-Options")).toBe("SAMEORIGIN");
});
