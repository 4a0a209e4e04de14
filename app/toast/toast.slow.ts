import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe } from "vitest";
import { findViolations } from "../../test/support/axe.ts";
import { test as base, brotliSize, expect, open } from "../../test/support/fixtures.ts";
import type {} from "./examples/toasts.tsx"; // window.toasts

/** The bytes (brotli) that the first toast loads. */
/** Without the tooltip, the toasts' file also has the code of Radix that both use. */
const MAX_BYTES = 17_000;

const test = base
  .extend("url", ({ examplesServer }) => `${examplesServer.url}/example-pages/toasts`)
  // Each page has a context of its own, because its clock is its context's.
  .extend("newPage", { scope: "file" }, ({ browser }) => {
    return () => browser.newPage({ viewport: { width: 1280, height: 720 } });
  });

const message = (page: Page) => page.locator(".toast");
const notification = (page: Page) => page.locator("[data-sonner-toast]");
const messages = (page: Page) => page.getByRole("region", { name: /^Messages/ });
const notifications = (page: Page) => page.getByRole("region", { name: /^Notifications/ });
const inStore = (page: Page) => page.locator("output");

async function openShell(page: Page, url: string) {
  await open(page, url);
  await messages(page).waitFor({ state: "attached" });
  await notifications(page).waitFor({ state: "attached" });
}

/** From here on, the page's time passes only when the test advances it. */
async function openInFakeTime(page: Page, url: string) {
  await page.clock.install();
  await openShell(page, url);
  await page.clock.pauseAt(Date.now() + 60_000);
}

test("of three toasts, only the newest shows, with its description and action", async ({ page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    for (const title of ["one", "two"]) window.toasts?.toast({ title });
    const action = {
      label: "Undo",
      altText: "Undo in the settings",
      onClick: () => Object.assign(window, { isUndone: true }),
    };
    window.toasts?.toast({ title: "three", description: "It is gone", variant: "destructive", action });
  });
  await expect.poll(() => message(page).allInnerTexts()).toEqual([expect.stringMatching(/^three\s+It is gone\s+Undo/)]);
  expect(await message(page).getAttribute("data-variant")).toBe("destructive");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await page.evaluate(() => "isUndone" in window)).toBe(true);
  await message(page).waitFor({ state: "detached" });
});

test("a toast shows for 5 s, and stays in the store for 1,000 s more", async ({ page, url }) => {
  await openInFakeTime(page, url);
  await page.evaluate(() => window.toasts?.toast({ title: "Saved" }));
  await message(page).waitFor();
  await page.clock.runFor(4800);
  expect(await message(page).getAttribute("data-state")).toBe("open");
  await page.clock.runFor(400);
  await message(page).waitFor({ state: "detached" });
  expect(await inStore(page).textContent()).toBe("1");
  await page.clock.fastForward(999_000);
  expect(await inStore(page).textContent()).toBe("1");
  await page.clock.fastForward(1500);
  await expect.poll(() => inStore(page).textContent()).toBe("0");
});

test("a toast stays for its own duration", async ({ page, url }) => {
  await openInFakeTime(page, url);
  await page.evaluate(() => window.toasts?.toast({ title: "Saved", duration: 20_000 }));
  await message(page).waitFor();
  await page.clock.runFor(19_000);
  expect(await message(page).getAttribute("data-state")).toBe("open");
  await page.clock.runFor(1500);
  await message(page).waitFor({ state: "detached" });
});

test("toasts are updated and dismissed by id, and all are dismissed at once", async ({ page, url }) => {
  await openShell(page, url);
  const id = await page.evaluate(() => window.toasts?.toast({ title: "Saving", duration: 3_600_000 }).id ?? "");
  await page.evaluate((id) => window.toasts?.update(id, { title: "Saved" }), id);
  await message(page).filter({ hasText: "Saved" }).waitFor();
  await page.evaluate(() => window.toasts?.dismiss("another"));
  expect(await message(page).getAttribute("data-state")).toBe("open");
  await page.evaluate((id) => window.toasts?.dismiss(id), id);
  await message(page).waitFor({ state: "detached" });

  await page.evaluate(() => window.toasts?.toast({ title: "Saved again", duration: 3_600_000 }));
  await message(page).waitFor();
  await page.evaluate(() => window.toasts?.dismiss());
  await message(page).waitFor({ state: "detached" });
});

test.for([
  { x: 60, y: 0, dismisses: true },
  { x: 40, y: 0, dismisses: false },
  { x: -60, y: 0, dismisses: false },
  { x: 0, y: 60, dismisses: false },
])("a swipe by $x px to the right and $y px down dismisses: $dismisses", async ({ x, y, dismisses }, { page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => window.toasts?.toast({ title: "Saved", duration: 3_600_000 }));
  const box = await message(page).boundingBox();
  const [left, top] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 10];
  await page.mouse.move(left, top);
  await page.mouse.down();
  await page.mouse.move(left + x, top + y, { steps: 10 });
  await page.mouse.up();
  if (dismisses) await message(page).waitFor({ state: "detached" });
  else expect(await message(page).getAttribute("data-state")).toBe("open");
});

test("F8 moves the focus to the messages, and Escape dismisses the focused message", async ({ page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    window.toasts?.notify("New mail", { duration: 3_600_000 });
    window.toasts?.toast({ title: "Saved", duration: 3_600_000 });
  });
  await message(page).waitFor();
  await page.keyboard.press("F8");
  expect(await messages(page).evaluate((region) => region.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("Tab");
  expect(await message(page).evaluate((toast) => toast === document.activeElement)).toBe(true);
  await page.keyboard.press("Escape");
  await message(page).waitFor({ state: "detached" });
  expect(await notification(page).count()).toBe(1);
});

test("of five notifications three show, each 356 px wide, for 4 s", async ({ page, url }) => {
  await openInFakeTime(page, url);
  await page.evaluate(() => {
    for (const text of ["1", "2", "3", "4", "5"]) window.toasts?.notify(text);
  });
  await page.clock.runFor(1000);
  const shown = page.locator("[data-sonner-toast][data-visible=true]");
  await expect.poll(() => shown.count()).toBe(3);
  expect(await shown.evaluateAll((toasts) => toasts.map((toast) => (toast as HTMLElement).offsetWidth))).toEqual([
    356, 356, 356,
  ]);
  await page.clock.runFor(2500);
  expect(await notification(page).count()).toBe(5);
  await page.clock.runFor(1000);
  await expect.poll(() => notification(page).count()).toBe(0);
});

test("toasts that are created before their code is loaded show once it is loaded", async ({ page, url }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/toasters-.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(url);
  await page.waitForFunction(() => window.toasts);
  await page.evaluate(() => {
    window.toasts?.toast({ title: "early message" });
    window.toasts?.notify("early notification");
  });
  expect(await page.getByText("early").count()).toBe(0);
  release();
  await page.locator(".toast", { hasText: "early message" }).waitFor();
  await page.locator("[data-sonner-toast]", { hasText: "early notification" }).waitFor();
});

describe("without the toasts' code", () => {
  // Chromium may write such a message when the test has ended already.
  test.override("ignoredMessages", () => /^error: Failed to load resource: /);

  test("a message and a notification show, and the missing file is reported", async ({ page, url }) => {
    const reports: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/browser-reports")) reports.push(request.postData() ?? "");
    });
    await page.route(/toasters-.*\.(js|css)/, (route) => route.fulfill({ status: 404 }));
    await open(page, url);
    await page.evaluate(() => {
      const action = { label: "Undo", altText: "", onClick: () => window.toasts?.notify("Undone") };
      window.toasts?.toast({ title: "Saved", description: "One note", action });
    });
    const shown = page.getByRole("alert");
    await shown.filter({ hasText: "Saved One note" }).getByRole("button", { name: "Undo" }).click();
    await shown.filter({ hasText: "Undone" }).getByRole("button", { name: "Close" }).click();
    await expect.poll(() => shown.count()).toBe(0);
    expect(reports).toEqual([expect.stringContaining("toasters-")]);
    expect(await page.locator("h1").textContent()).toBe("Toasts");
  });
});

test("the error page shows toasts, also those of the last page", async ({ page, url, consoleMessages }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    window.toasts?.toast({ title: "Saved", duration: 3_600_000 });
    window.__reactRouterDataRouter.navigate("/example-pages/broken/response");
  });
  await page.getByRole("heading", { name: "500" }).waitFor();
  await page.locator(".toast", { hasText: "Saved" }).waitFor();
  await page.evaluate(() => window.toasts?.notify("Try again later"));
  await page.locator("[data-sonner-toast]", { hasText: "Try again later" }).waitFor();
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 500"))).toEqual([]);
});

test("the two live regions have different names, and announce each toast once", async ({ page, url }) => {
  await openInFakeTime(page, url);
  const names = await page.getByRole("region").evaluateAll((all) => all.map((region) => region.ariaLabel));
  expect(names).toEqual(["Messages (F8)", "Notifications alt+T"]);
  await page.evaluate(() => {
    window.toasts?.toast({ title: "Saved" });
    window.toasts?.notify("New mail");
  });
  await page.clock.runFor(200);
  const live = page.locator("[aria-live=assertive], [aria-live=polite]");
  await expect.poll(() => live.filter({ hasText: "Saved" }).count()).toBe(1);
  await expect.poll(() => live.filter({ hasText: "New mail" }).count()).toBe(1);
});

test.for(["light", "dark"] as const)(
  "axe finds nothing while toasts are open: %s",
  async (colorScheme, { page, url }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await openShell(page, url);
    await page.evaluate(() => {
      const action = { label: "Undo", altText: "Press Control and Z", onClick: () => {} };
      window.toasts?.toast({
        title: "Deleted",
        description: "One note",
        action,
        variant: "destructive",
        duration: 3_600_000,
      });
      window.toasts?.notify("New mail", { duration: 3_600_000 });
    });
    await message(page).waitFor();
    await notification(page).waitFor();
    expect(await findViolations(page)).toEqual([]);
  },
);

test("toasts follow light and dark", async ({ page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    window.toasts?.toast({ title: "Saved" });
    window.toasts?.notify("New mail");
  });
  const pieces = [message(page), notification(page)];
  const backgrounds = () =>
    Promise.all(pieces.map((piece) => piece.evaluate((element) => getComputedStyle(element).backgroundColor)));
  await page.emulateMedia({ colorScheme: "light" });
  const light = await backgrounds();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(async () => (await backgrounds()).filter((color, i) => color !== light[i]).length).toBe(2);
});

test.for(["/", "/example-pages/toasts", "/nowhere"])(
  "what the server renders for %s holds no toast and no style attribute",
  async (path, { examplesServer }) => {
    const html = await (await fetch(examplesServer.url + path)).text();
    expect(html.replace(/<(style|script)\b.*?<\/\1>/gs, "")).not.toMatch(
      /\sstyle=|class="toast|data-sonner|role="region"/,
    );
  },
);

test("a click shows each kind of toast, and neither covers the other or the heading", async ({ page, url }) => {
  await open(page, url);
  await page.getByRole("button", { name: "Save" }).click();
  await message(page).filter({ hasText: "Saved" }).waitFor();
  await page.getByRole("button", { name: "Subscribe" }).click();
  await notification(page).filter({ hasText: "You will hear of storms" }).waitFor();
  const areApart = async () => {
    const boxes = [page.locator("h1"), notification(page), message(page)].map((element) => element.boundingBox());
    const [heading, upper, lower] = await Promise.all(boxes);
    const bottomOf = (box: typeof upper) => (box?.y ?? 0) + (box?.height ?? 0);
    return bottomOf(heading) < (upper?.y ?? 0) && bottomOf(upper) < (lower?.y ?? 0);
  };
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 480 });
    await expect.poll(areApart).toBe(true); // They may be moving.
  }
});

test.for([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  "a form confirms that its input was saved: %j",
  async ({ javaScriptEnabled }, { browser, examplesServer }) => {
    const page = await browser.newPage({ javaScriptEnabled });
    await page.goto(`${examplesServer.url}/example-pages/toast-form`);
    await page.getByRole("textbox").fill("Ada");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .locator(javaScriptEnabled ? ".toast" : "p")
      .filter({ hasText: "Saved Ada" })
      .waitFor();
    await page.close();
  },
);

test("only pages that import notify() load the toasts before one shows", async ({ page, url, examplesServer }) => {
  const loadsToasts = async (url: string) => {
    await open(page, url);
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    return loaded.some((name) => name.includes("/assets/toasters-"));
  };
  expect(await loadsToasts(`${examplesServer.url}/`)).toBe(false);
  await expect.poll(() => loadsToasts(url)).toBe(true);
});

const [file = "none"] = readdirSync("build/client/assets").filter((name) => /^toasters-.*\.js$/.test(name));

test(`the toasts add at most ${MAX_BYTES} bytes, with the styles in a file of their own`, () => {
  expect(brotliSize(".", [file])).toBeLessThanOrEqual(MAX_BYTES);
  expect(readFileSync(`build/client/assets/${file}`, "utf8")).not.toMatch(/\[data-sonner-toast\][^{}]*\{/);
});

test("only app/toast imports sonner, since notify() also mounts its toaster", () => {
  const files = readdirSync("app", { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const importers = files.filter((name) => /from "sonner"/.test(readFileSync(`app/${name}`, "utf8")));
  expect(importers.filter((name) => !name.startsWith("toast/"))).toEqual([]);
});
