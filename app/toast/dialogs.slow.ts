import type { Locator, Page } from "playwright-core";

import { test as base, expect, open } from "../../test/support/fixtures.ts";

const SYSTEMS = [
  { button: "Save", toast: ".toast", hotkey: "F8" },
  { button: "Subscribe", toast: "[data-sonner-toast]", hotkey: "Alt+T" },
];
const DIALOGS = ["Dialog", "Sheet", "Alert dialog"];
const INPUTS = ["mouse", "touch", "keyboard"] as const;

const test = base.extend("newPage", { scope: "file" }, ({ browser }) => {
  return () => browser.newPage({ viewport: { width: 1280, height: 720 }, hasTouch: true });
});

async function press(page: Page, button: Locator, input: (typeof INPUTS)[number], hotkey: string) {
  if (input === "mouse") return button.click();
  if (input === "touch") return button.tap();
  await button.waitFor();
  await page.keyboard.press(hotkey);
  const isFocused = () => button.evaluate((button) => button === document.activeElement);
  for (let tabs = 0; tabs < 5 && !(await isFocused()); tabs++) await page.keyboard.press("Tab");
  expect(await isFocused()).toBe(true);
  await page.keyboard.press("Enter");
}

test.for(SYSTEMS.flatMap((system) => DIALOGS.map((dialog) => ({ ...system, dialog }))))(
  "$button, $dialog: toasts from before and inside the dialog work by mouse, touch and keyboard, and it stays open",
  async ({ button, toast, hotkey, dialog }, { page, examplesServer }) => {
    await open(page, `${examplesServer.url}/example-pages/toast-dialogs`);
    const opened = page.getByRole(/^Alert/.test(dialog) ? "alertdialog" : "dialog");
    const hasFocus = () => opened.evaluate((dialog) => dialog.contains(document.activeElement));
    for (const [count, input] of INPUTS.entries()) {
      await page.getByRole("button", { name: button }).click();
      await page.locator(toast).waitFor();
      await page.getByRole("button", { name: `Open ${dialog}` }).click();
      await expect.poll(hasFocus).toBe(true);
      // Roles leave out what is hidden from screen readers.
      await press(page, page.locator(toast).getByRole("button", { name: "Undo" }), input, hotkey);
      await page.locator(toast).waitFor({ state: "detached" });
      expect(await page.locator("output").textContent()).toBe(String(count + 1));
      await opened.getByRole("button", { name: button }).click();
      await press(page, page.locator(toast).getByRole("button", { name: "Close" }), input, hotkey);
      await page.locator(toast).waitFor({ state: "detached" });
      await page.keyboard.press("Tab");
      expect(await hasFocus()).toBe(true);
      await page.keyboard.press("Escape");
      await opened.waitFor({ state: "detached" });
    }
  },
);
