import { readdirSync, readFileSync } from "node:fs";
import { describe } from "vitest";
import { findViolations } from "../../test/support/axe.ts";
import { brotliSize, expect, open } from "../../test/support/fixtures.ts";
import { message, notification, openInFakeTime, openShell, test } from "./fixtures.ts";

/** The bytes (brotli) that the first toast loads. */
/** Without the tooltip, the toasts' file also has the code of Radix that both use. */
const MAX_BYTES = 17_000;

test("of five notifications three show, each 356 px wide, for 4 s", async ({ page, url }) => {
  await openInFakeTime(page, url);
  await page.evaluate(() => {
    for (const text of ["1", "2", "3", "4", "5"]) window.toasts.notify(text);
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
  await open(page, url);
  await page.evaluate(() => {
    window.toasts.toast({ title: "early message" });
    window.toasts.notify("early notification");
  });
  expect(await page.getByText("early").count()).toBe(0);
  release();
  await page.locator(".toast", { hasText: "early message" }).waitFor();
  await page.locator("[data-sonner-toast]", { hasText: "early notification" }).waitFor();
});

test.for([2, 4, 8])("an open page has run its effects, also %d times slower", async (rate, { page, url }) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
  await open(page, url);
  expect(await page.evaluate(() => "toasts" in window)).toBe(true);
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
      const action = { label: "Undo", altText: "", onClick: () => window.toasts.notify("Undone") };
      window.toasts.toast({ title: "Saved", description: "One note", action });
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
    window.toasts.toast({ title: "Saved", duration: 3_600_000 });
    window.__reactRouterDataRouter.navigate("/example-pages/broken/response");
  });
  await page.getByRole("heading", { name: "500" }).waitFor();
  await page.locator(".toast", { hasText: "Saved" }).waitFor();
  await page.evaluate(() => window.toasts.notify("Try again later"));
  await page.locator("[data-sonner-toast]", { hasText: "Try again later" }).waitFor();
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 500"))).toEqual([]);
});

test("the two live regions have different names, and announce each toast once", async ({ page, url }) => {
  await openInFakeTime(page, url);
  const names = await page.getByRole("region").evaluateAll((all) => all.map((region) => region.ariaLabel));
  expect(names).toEqual(["Messages (F8)", "Notifications alt+T"]);
  await page.evaluate(() => {
    window.toasts.toast({ title: "Saved" });
    window.toasts.notify("New mail");
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
      window.toasts.toast({
        title: "Deleted",
        description: "One note",
        action,
        variant: "destructive",
        duration: 3_600_000,
      });
      window.toasts.notify("New mail", { duration: 3_600_000 });
    });
    await message(page).waitFor();
    await notification(page).waitFor();
    expect(await findViolations(page)).toEqual([]);
  },
);

test("toasts follow light and dark", async ({ page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    window.toasts.toast({ title: "Saved" });
    window.toasts.notify("New mail");
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
