import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { copyAndGrow } from "./support/copy-project.ts";
import { test as base, expect, open } from "./support/fixtures.ts";

// A copy of its own, which the tests edit.
const FOLDER = copyAndGrow();
process.once("exit", () => rmSync(FOLDER, { recursive: true, force: true }));

const test = base
  // The console has the development tools' hints, too.
  .extend("ignoredMessages", () => /^(debug|info): /)
  .extend("url", { scope: "file" }, startDevelopment);

/** Starts the development server; resolves with its URL. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
async function startDevelopment({}, { onCleanup }: { onCleanup: (cleanup: () => Promise<void>) => void }) {
  // In a process group of its own, since npm starts others.
  const development = spawn("npm", ["run", "dev"], {
    cwd: FOLDER,
    detached: true,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = () => process.kill(-(development.pid as number), "SIGKILL");
  process.once("exit", kill);
  onCleanup(async () => {
    process.off("exit", kill);
    kill();
    await once(development, "exit");
  });
  for await (const line of createInterface({ input: development.stdout })) {
    const [address] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error("the development server has ended");
}

async function mark(page: Page) {
  await page.evaluate(() => Object.assign(window, { isMarked: true }));
}
const isMarked = (page: Page) => page.evaluate(() => "isMarked" in window);

/** Saves a file in one step: a server that reads it between its truncation and its writing would keep the empty file. */
function edit(path: string, from: string, to: string) {
  const text = readFileSync(`${FOLDER}/${path}`, "utf8");
  expect(text).toContain(from);
  writeFileSync(`${FOLDER}.edited`, text.replace(from, to));
  renameSync(`${FOLDER}.edited`, `${FOLDER}/${path}`);
}

// React's development build writes what hydration finds different.
test.for(["/", "/about", "/notes/1", "/sign-up", "/weather", "/docs/setup/linux", "/visitors/ada", "/app-shell"])(
  "%s is hydrated without a warning",
  async (path, { page, url }) => {
    await open(page, url + path);
  },
);

test.for<[string, number]>([
  ["/", 200],
  ["/temperature", 200],
  ["/nowhere", 404],
  ["/notes/3", 404],
  ["/broken/component", 500],
])("%s has status %d", async ([path, status], { url }) => {
  expect((await fetch(url + path)).status).toBe(status);
});

test("a page's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/weather`);
  await mark(page);
  edit("app/routes/weather.tsx", "<h1>Weather</h1>", "<h1>Climate</h1>");
  await page.getByRole("heading", { name: "Climate" }).waitFor();
  expect(await isMarked(page)).toBe(true);
  expect(await (await fetch(`${url}/weather`)).text()).toContain("Climate</h1>");
});

test("a loader's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/notes/1`);
  await mark(page);
  edit("app/routes/note.tsx", "Buy milk", "Buy oats");
  await page.getByRole("heading", { name: "Buy oats" }).waitFor();
  expect(await isMarked(page)).toBe(true);
});

test("a style's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/`);
  await mark(page);
  edit("app/app.css", "letter-spacing: -0.03em", "letter-spacing: 7px");
  const spacing = () => page.locator("h1").evaluate((heading) => getComputedStyle(heading).letterSpacing);
  await expect.poll(spacing).toBe("7px");
  expect(await isMarked(page)).toBe(true);
});

test("a new page shows: a file, and a line in app/routes.ts", async ({ page, url }) => {
  writeFileSync(`${FOLDER}/app/routes/new.tsx`, "export default function New() {\n  return <h1>New</h1>;\n}\n");
  edit("app/routes.ts", "[\n", '[\n  { id: "new", path: "/new", file: "routes/new.tsx" },\n');
  await expect.poll(async () => (await fetch(`${url}/new`)).status).toBe(200);
  await open(page, `${url}/new`);
  await page.getByRole("heading", { name: "New" }).waitFor();
});

test("a server file's change shows", async ({ url }) => {
  edit("server/http/security-headers.ts", '"X-Frame-Options": "DENY"', '"X-Frame-Options": "SAMEORIGIN"');
  await expect.poll(async () => (await fetch(url)).headers.get("X-Frame-Options")).toBe("SAMEORIGIN");
});
