import type { Page } from "playwright-core";
import { test as base, open } from "../../test/support/fixtures.ts";
import type {} from "./examples/toasts.tsx"; // window.toasts

/** `test` with the URL of the page that shows toasts of both systems. */
export const test = base
  .extend("url", ({ examplesServer }) => `${examplesServer.url}/example-pages/toasts`)
  // Each page has a context of its own, because its clock is its context's.
  .extend("newPage", { scope: "file" }, ({ browser }) => {
    return () => browser.newPage({ viewport: { width: 1280, height: 720 } });
  });

export const message = (page: Page) => page.locator(".toast");
export const notification = (page: Page) => page.locator("[data-sonner-toast]");
export const messages = (page: Page) => page.getByRole("region", { name: /^Messages/ });
const notifications = (page: Page) => page.getByRole("region", { name: /^Notifications/ });

/** Opens the page, and waits for the toasts' code. */
export async function openShell(page: Page, url: string) {
  await open(page, url);
  await messages(page).waitFor({ state: "attached" });
  await notifications(page).waitFor({ state: "attached" });
}

/** From here on, the page's time passes only when the test advances it. */
export async function openInFakeTime(page: Page, url: string) {
  await page.clock.install();
  await openShell(page, url);
  await page.clock.pauseAt(Date.now() + 60_000);
}
