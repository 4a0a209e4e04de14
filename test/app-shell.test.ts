import { rmSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { notify } from "../app/toast/notify.ts";
import type { useToast } from "../app/toast/toast.ts";
import { findViolations } from "./support/axe.ts";
import { launchChromium } from "./support/chromium.ts";
import { build, copyAndGrow } from "./support/copy-project.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

declare global {
  interface Window {
    /** What test/fixtures/routes/app-shell.tsx hands out. */
    appShell: Omit<ReturnType<typeof useToast>, "toasts"> & { notify: typeof notify; attempts: number[] };
  }
}

let folder: string;
let server: RunningServer;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  folder = copyAndGrow();
  build(folder);
  [server, browser] = await Promise.all([startServer({}, folder), launchChromium()]);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  complaints = [];
  page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
});

afterEach(async () => {
  await page.close();
  expect(complaints).toEqual([]);
});

const message = () => page.locator(".toast");
const notification = () => page.locator("[data-sonner-toast]");
const messages = () => page.getByRole("region", { name: /^Messages/ });
const notifications = () => page.getByRole("region", { name: /^Notifications/ });
const query = () => page.getByText("Query:");
const inStore = () => page.locator("output");

async function open(search = "") {
  await page.goto(`${server.url}/app-shell${search}`);
  await messages().waitFor({ state: "attached" });
  await notifications().waitFor({ state: "attached" });
}

/** From here on the page's time passes only as the test says. */
async function openInFakeTime(search = "") {
  await page.clock.install();
  await open(search);
  await page.clock.pauseAt(Date.now() + 60_000);
}

test("of three toasts the newest shows, with all that it was given", async () => {
  await open();
  await page.evaluate(() => {
    for (const title of ["one", "two"]) window.appShell.toast({ title });
    const action = { label: "Undo", altText: "Undo in the settings", onClick: () => window.appShell.attempts.push(1) };
    window.appShell.toast({ title: "three", description: "It is gone", variant: "destructive", action });
  });
  await expect.poll(() => message().allInnerTexts()).toEqual([expect.stringMatching(/^three\s+It is gone\s+Undo/)]);
  expect(await message().getAttribute("data-variant")).toBe("destructive");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await page.evaluate(() => window.appShell.attempts)).toEqual([1]);
  await message().waitFor({ state: "detached" });
});

test("a toast shows for 5 s, and stays in the store for 1,000 s more", async () => {
  await openInFakeTime();
  await page.evaluate(() => window.appShell.toast({ title: "Saved" }));
  await message().waitFor();
  await page.clock.runFor(4800);
  expect(await message().getAttribute("data-state")).toBe("open");
  await page.clock.runFor(400);
  await message().waitFor({ state: "detached" });
  expect(await inStore().textContent()).toBe("1");
  await page.clock.fastForward(999_000);
  expect(await inStore().textContent()).toBe("1");
  await page.clock.fastForward(1500);
  await expect.poll(() => inStore().textContent()).toBe("0");
});

test("a toast stays for as long as it says", async () => {
  await openInFakeTime();
  await page.evaluate(() => window.appShell.toast({ title: "Saved", duration: 20_000 }));
  await message().waitFor();
  await page.clock.runFor(19_000);
  expect(await message().getAttribute("data-state")).toBe("open");
  await page.clock.runFor(1500);
  await message().waitFor({ state: "detached" });
});

test("toasts are updated and dismissed by id, and all are dismissed at once", async () => {
  await open();
  const id = await page.evaluate(() => window.appShell.toast({ title: "Saving" }).id);
  await page.evaluate((id) => window.appShell.update(id, { title: "Saved" }), id);
  await message().filter({ hasText: "Saved" }).waitFor();
  await page.evaluate(() => window.appShell.dismiss("another"));
  expect(await message().getAttribute("data-state")).toBe("open");
  await page.evaluate((id) => window.appShell.dismiss(id), id);
  await message().waitFor({ state: "detached" });

  await page.evaluate(() => window.appShell.toast({ title: "Saved again" }));
  await message().waitFor();
  await page.evaluate(() => window.appShell.dismiss());
  await message().waitFor({ state: "detached" });
});

test.each([
  { x: 60, y: 0, dismisses: true },
  { x: 40, y: 0, dismisses: false },
  { x: -60, y: 0, dismisses: false },
  { x: 0, y: 60, dismisses: false },
])("a swipe by $x px to the right and $y px down dismisses: $dismisses", async ({ x, y, dismisses }) => {
  await open();
  await page.evaluate(() => window.appShell.toast({ title: "Saved" }));
  const box = await message().boundingBox();
  const [left, top] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 10];
  await page.mouse.move(left, top);
  await page.mouse.down();
  await page.mouse.move(left + x, top + y, { steps: 10 });
  await page.mouse.up();
  if (dismisses) await message().waitFor({ state: "detached", timeout: 1000 });
  else expect(await message().getAttribute("data-state")).toBe("open");
});

test("F8 moves the focus to the messages, and Escape dismisses the one that has it", async () => {
  await open();
  await page.evaluate(() => {
    window.appShell.notify("New mail");
    window.appShell.toast({ title: "Saved" });
  });
  await message().waitFor();
  await page.keyboard.press("F8");
  expect(await messages().evaluate((region) => region.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("Tab");
  expect(await message().evaluate((toast) => toast === document.activeElement)).toBe(true);
  await page.keyboard.press("Escape");
  await message().waitFor({ state: "detached" });
  expect(await notification().count()).toBe(1);
});

test("of five notifications three show, each 356 px wide, for 4 s", async () => {
  await openInFakeTime();
  await page.evaluate(() => {
    for (const text of ["1", "2", "3", "4", "5"]) window.appShell.notify(text);
  });
  await page.clock.runFor(1000);
  const shown = page.locator("[data-sonner-toast][data-visible=true]");
  await expect.poll(() => shown.count()).toBe(3);
  expect(await shown.evaluateAll((toasts) => toasts.map((toast) => (toast as HTMLElement).offsetWidth))).toEqual([
    356, 356, 356,
  ]);
  await page.clock.runFor(2500);
  expect(await notification().count()).toBe(5);
  await page.clock.runFor(1000);
  await expect.poll(() => notification().count()).toBe(0);
});

test("toasts that are called before their renderers are there show once these are", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/toasters-.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${server.url}/app-shell`);
  await page.waitForFunction(() => window.appShell);
  await page.evaluate(() => {
    window.appShell.toast({ title: "early message" });
    window.appShell.notify("early notification");
  });
  expect(await page.getByText("early").count()).toBe(0);
  release();
  await page.locator(".toast", { hasText: "early message" }).waitFor();
  await page.locator("[data-sonner-toast]", { hasText: "early notification" }).waitFor();
});

test("the two live regions have names of their own, and say each toast once", async () => {
  await openInFakeTime();
  const names = await page.getByRole("region").evaluateAll((all) => all.map((region) => region.ariaLabel));
  expect(names).toEqual(["Messages (F8)", "Notifications alt+T"]);
  await page.evaluate(() => {
    window.appShell.toast({ title: "Saved" });
    window.appShell.notify("New mail");
  });
  await page.clock.runFor(200);
  const live = page.locator("[aria-live=assertive], [aria-live=polite]");
  await expect.poll(() => live.filter({ hasText: "Saved" }).count()).toBe(1);
  await expect.poll(() => live.filter({ hasText: "New mail" }).count()).toBe(1);
});

test.each([
  ["hover", () => page.getByRole("button", { name: "Delete" }).hover()],
  ["focus", () => page.keyboard.press("Tab")],
])("a tooltip opens on %s and closes on Escape", async (_, point) => {
  await open();
  await point();
  await page.getByRole("tooltip", { name: "It can be undone" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("tooltip").waitFor({ state: "detached" });
});

test.each(["light", "dark"] as const)(
  "axe finds nothing while toasts and a tooltip are open: %s",
  async (colorScheme) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open();
    await page.evaluate(() => {
      const action = { label: "Undo", altText: "Press Control and Z", onClick: () => {} };
      window.appShell.toast({
        title: "Deleted",
        description: "One note",
        action,
        variant: "destructive",
        duration: 60_000,
      });
      window.appShell.notify("New mail", { duration: 60_000 });
    });
    await page.getByRole("button", { name: "Delete" }).hover();
    await page.getByRole("tooltip").waitFor({ state: "attached" });
    await message().waitFor();
    await notification().waitFor();
    expect(await findViolations(page)).toEqual([]);
  },
);

test("toasts and tooltips follow light and dark", async () => {
  await open();
  await page.evaluate(() => {
    window.appShell.toast({ title: "Saved" });
    window.appShell.notify("New mail");
  });
  await page.getByRole("button", { name: "Delete" }).hover();
  const pieces = [message(), notification(), page.locator(".tooltip")];
  const backgrounds = () =>
    Promise.all(pieces.map((piece) => piece.evaluate((element) => getComputedStyle(element).backgroundColor)));
  await page.emulateMedia({ colorScheme: "light" });
  const light = await backgrounds();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(async () => (await backgrounds()).filter((color, i) => color !== light[i]).length).toBe(3);
});

test.each([
  ["by default", "?fail", [1000, 2000, 4000]],
  ["at most 30 s apart", "?fail&retry=7", [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
])("a failing query is tried again %s", async (_, search, delays) => {
  await openInFakeTime(search);
  await page.getByRole("button", { name: "Query" }).click();
  await expect.poll(() => page.evaluate(() => window.appShell.attempts.length)).toBe(1);
  await page.clock.runFor(100_000);
  await query().filter({ hasText: "error" }).waitFor();
  const attempts = await page.evaluate(() => window.appShell.attempts);
  expect(attempts.slice(1).map((time, i) => time - (attempts[i] as number))).toEqual(delays);
});

test.each([
  { minutes: 4.9, status: "success" },
  { minutes: 5.1, status: "pending" },
])("data that was unused for $minutes minutes is at first: $status", async ({ minutes, status }) => {
  await openInFakeTime();
  const toggle = page.getByRole("button", { name: "Query" });
  await toggle.click();
  await expect.poll(() => page.evaluate(() => window.appShell.attempts.length)).toBe(1);
  await page.clock.runFor(200);
  await query().filter({ hasText: "success" }).waitFor();
  await toggle.click();
  await page.clock.runFor(minutes * 60_000);
  await toggle.click();
  expect(await query().textContent()).toBe(`Query: ${status}`);
});

test("renders that overlap never share a query client", async () => {
  const names = ["ada", "grace", "linus"];
  const pages = await Promise.all(names.map((name) => fetch(`${server.url}/visitors/${name}`)));
  const texts = await Promise.all(pages.map((response) => response.text()));
  expect(texts.map((text) => /<p>(.*?)<\/p>/.exec(text)?.[1])).toEqual(names);
});

test.each(["/", "/app-shell", "/nowhere"])(
  "what the server renders for %s holds no toast and no style attribute",
  async (path) => {
    const html = await (await fetch(server.url + path)).text();
    expect(html.replace(/<(style|script)\b.*?<\/\1>/gs, "")).not.toMatch(
      /\sstyle=|class="toast|data-sonner|role="region"/,
    );
  },
);
