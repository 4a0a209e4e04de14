import type { Page } from "playwright-core";
import { expect } from "../../test/support/fixtures.ts";
import { message, messages, notification, openInFakeTime, openShell, test } from "./fixtures.ts";

/** How many toasts the store holds. */
const inStore = (page: Page) => page.locator("output");

test("of three toasts, only the newest shows, with its description and action", async ({ page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => {
    for (const title of ["one", "two"]) window.toasts.toast({ title });
    const action = {
      label: "Undo",
      altText: "Undo in the settings",
      onClick: () => Object.assign(window, { isUndone: true }),
    };
    window.toasts.toast({ title: "three", description: "It is gone", variant: "destructive", action });
  });
  await expect.poll(() => message(page).allInnerTexts()).toEqual([expect.stringMatching(/^three\s+It is gone\s+Undo/)]);
  expect(await message(page).getAttribute("data-variant")).toBe("destructive");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await page.evaluate(() => "isUndone" in window)).toBe(true);
  await message(page).waitFor({ state: "detached" });
});

test("a toast shows for 5 s, and stays in the store for 1,000 s more", async ({ page, url }) => {
  await openInFakeTime(page, url);
  await page.evaluate(() => window.toasts.toast({ title: "Saved" }));
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
  await page.evaluate(() => window.toasts.toast({ title: "Saved", duration: 20_000 }));
  await message(page).waitFor();
  await page.clock.runFor(19_000);
  expect(await message(page).getAttribute("data-state")).toBe("open");
  await page.clock.runFor(1500);
  await message(page).waitFor({ state: "detached" });
});

test("toasts are updated and dismissed by id, and all are dismissed at once", async ({ page, url }) => {
  await openShell(page, url);
  const id = await page.evaluate(() => window.toasts.toast({ title: "Saving", duration: 3_600_000 }).id ?? "");
  await page.evaluate((id) => window.toasts.update(id, { title: "Saved" }), id);
  await message(page).filter({ hasText: "Saved" }).waitFor();
  await page.evaluate(() => window.toasts.dismiss("another"));
  expect(await message(page).getAttribute("data-state")).toBe("open");
  await page.evaluate((id) => window.toasts.dismiss(id), id);
  await message(page).waitFor({ state: "detached" });

  await page.evaluate(() => window.toasts.toast({ title: "Saved again", duration: 3_600_000 }));
  await message(page).waitFor();
  await page.evaluate(() => window.toasts.dismiss());
  await message(page).waitFor({ state: "detached" });
});

test.for([
  { x: 60, y: 0, dismisses: true },
  { x: 40, y: 0, dismisses: false },
  { x: -60, y: 0, dismisses: false },
  { x: 0, y: 60, dismisses: false },
])("a swipe by $x px to the right and $y px down dismisses: $dismisses", async ({ x, y, dismisses }, { page, url }) => {
  await openShell(page, url);
  await page.evaluate(() => window.toasts.toast({ title: "Saved", duration: 3_600_000 }));
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
    window.toasts.notify("New mail", { duration: 3_600_000 });
    window.toasts.toast({ title: "Saved", duration: 3_600_000 });
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
