// A user keeps what they have entered if the server rejects the form.

import type { Page } from "playwright-core";
import { test as base, expect, open } from "./support/fixtures.ts";

const FORM = "/example-pages/sign-up";
/** More than 100 KB, when it is URL-encoded. */
const LONG = `${"中".repeat(12_000)}@`;

const test = base.extend("ignoredMessages", () => /Failed to load resource/);

/** What the dialogs of a page say. */
function collectDialogs(page: Page) {
  const texts: string[] = [];
  page.on("dialog", (dialog) => {
    texts.push(dialog.message());
    dialog.accept();
  });
  return texts;
}

test("a form over the limit stays, and a dialog has the reason", async ({ page, server }) => {
  const dialogs = collectDialogs(page);
  await open(page, server.url + FORM);
  const email = page.getByLabel("E-mail");
  await email.fill(LONG);
  await page.getByRole("button").click();
  await expect.poll(() => dialogs).toEqual([expect.stringContaining("too large")]);
  await page.waitForLoadState("networkidle");
  expect(await email.inputValue()).toBe(LONG);
  await email.fill("short@example.org");
  await page.getByRole("button").click();
  await page.waitForURL("**/example-pages/about");
});

test.for([
  ["429", 429],
  ["503", 503],
  ["no response", undefined],
] as const)("a form that gets %s stays, and can be sent again", async ([, status], { page, server }) => {
  const dialogs = collectDialogs(page);
  await open(page, server.url + FORM);
  const email = page.getByLabel("E-mail");
  await email.fill("ada@example.org");
  await page.route("**/*.data", (route) =>
    status ? route.fulfill({ status, body: "rejected" }) : route.abort("connectionreset"),
  );
  await page.getByRole("button").click();
  await expect.poll(() => dialogs).toEqual([expect.stringContaining("try again")]);
  await page.unroute("**/*.data");
  expect(await email.inputValue()).toBe("ada@example.org");
  await page.getByRole("button").click();
  await page.waitForURL("**/example-pages/about");
});

test("a page stays if its form is for another page", async ({ page, server }) => {
  const dialogs = collectDialogs(page);
  await open(page, `${server.url}/example-pages/events/1/edit`);
  const title = page.getByLabel("Title");
  await title.fill(LONG);
  await page.getByRole("button").evaluate((button) => {
    // React Router reads the button's `formaction`.
    button.setAttribute("formaction", "/example-pages/sign-up");
  });
  await page.getByRole("button").click();
  await expect.poll(() => dialogs).toEqual([expect.stringContaining("too large")]);
  await page.waitForLoadState("networkidle");
  expect(new URL(page.url()).pathname).toBe("/example-pages/events/1/edit");
  expect(await title.inputValue()).toBe(LONG);
});

test("an error that an action throws still shows its page", async ({ page, server }) => {
  const dialogs = collectDialogs(page);
  await open(page, server.url + FORM);
  await page.getByLabel("E-mail").fill("taken@example.org");
  await page.getByRole("button").click();
  await page.getByRole("heading", { name: "Somebody has signed up" }).waitFor();
  expect(dialogs).toEqual([]);
});

test.for(["", "session=1"])(
  "without scripts, a form over the limit gets the reason, and Back shows the text, with the cookie %j",
  async (cookie, { browser, server }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const [name = "", value = ""] = cookie.split("=");
    if (name) await context.addCookies([{ name, value, url: server.url }]);
    const page = await context.newPage();
    await page.goto(server.url + FORM);
    await page.getByLabel("E-mail").fill(LONG);
    await page.getByRole("button").click();
    await page.getByText("This is too large to be sent. Go back").waitFor();
    await page.goBack();
    expect(await page.getByLabel("E-mail").inputValue()).toBe(LONG);
    await context.close();
  },
);
