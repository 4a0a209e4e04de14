import type { Page } from "playwright-core";
import { describe } from "vitest";
import { test as base, expect, NOT_FOUND_MESSAGES, open } from "../../test/support/fixtures.ts";

const NAME = "Ada; 100 % + é 你好";
const FORM = "/example-pages/toast-redirect";
const RENDERED = FORM;
const CACHED = "/example-pages/toast-cached";
const OWN_DOCUMENT = "/example-pages/toast-own-document";

const test = base
  .extend("url", ({ examplesServer }) => examplesServer.url)
  // Each page has cookies of its own.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      async () =>
        (await browser.newContext()).newPage(),
  );

const message = (page: Page, text: string) => page.locator(".toast", { hasText: text });

async function save(page: Page, name: string, target: string) {
  await page.getByRole("textbox").fill(name);
  await page.getByRole("button", { name: `Save, and open ${target}`, exact: true }).click();
}

/** The browser then sends forms itself, as with `reloadDocument`. */
const sendFormsAsDocuments = (page: Page) =>
  page.evaluate(() => addEventListener("submit", (event) => event.stopPropagation(), true));

async function expectNoToast(page: Page) {
  await page.waitForLoadState("networkidle");
  expect(await message(page, "").count()).toBe(0);
}

test.for(
  [RENDERED, CACHED, OWN_DOCUMENT].flatMap((target) => [
    { target, isDocument: false },
    { target, isDocument: true },
  ]),
)(
  "after a redirect, a toast shows once, and not after a reload, Back or Forward: %j",
  async ({ target, isDocument }, { page, url }) => {
    await open(page, `${url}/`);
    await open(page, url + FORM);
    if (isDocument) await sendFormsAsDocuments(page);
    await save(page, NAME, target);
    await message(page, `Saved ${NAME}`).waitFor();
    expect(page.url()).toBe(url + target);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await expectNoToast(page);
    await page.goBack();
    await expectNoToast(page);
    await page.goForward();
    await expectNoToast(page);
  },
);

test("a redirect to an address beyond ASCII shows its toast, with scripts and without", async ({
  page,
  browser,
  url,
}) => {
  const target = `${FORM}?name=你好`;
  await open(page, url + FORM);
  await save(page, NAME, target);
  await message(page, `Saved ${NAME}`).waitFor();
  expect(page.url()).toBe(url + encodeURI(target));
  const withoutScripts = await browser.newPage({ javaScriptEnabled: false });
  await withoutScripts.goto(url + FORM);
  await save(withoutScripts, NAME, target);
  await withoutScripts.locator("p", { hasText: `Saved ${NAME}` }).waitFor();
  expect(withoutScripts.url()).toBe(url + encodeURI(target));
  await withoutScripts.close();
});

test("each redirect of a tab shows its toast, also in a new document", async ({ page, url }) => {
  await open(page, url + FORM);
  const visits = { Ada: RENDERED, Grace: RENDERED, Linus: OWN_DOCUMENT };
  for (const [name, target] of Object.entries(visits)) {
    await save(page, name, target);
    await message(page, `Saved ${name}`).waitFor();
    expect(page.url()).toBe(url + target);
  }
});

test("of two tabs, the one that sent the form shows the toast", async ({ page, url }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/toasters-.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  const other = await page.context().newPage();
  await open(other, `${url}/`);
  await open(page, url + FORM);
  await save(page, NAME, CACHED);
  await page.waitForURL(url + CACHED);
  await other.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/about"));
  await expectNoToast(other);
  await open(other, url + FORM);
  await expectNoToast(other);
  release();
  await message(page, NAME).waitFor();
  expect(await message(other, "").count()).toBe(0);
});

test("without scripts, a rendered page shows a text instead", async ({ browser, url }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(url + FORM);
  await save(page, NAME, RENDERED);
  await page.locator("p", { hasText: `Saved ${NAME}` }).waitFor();
  await page.close();
});

test("a redirect shows an error", async ({ page, url }) => {
  await open(page, url + FORM);
  await save(page, "locked", CACHED);
  await message(page, "It is locked").waitFor();
  expect(await message(page, "").getAttribute("data-variant")).toBe("destructive");
  expect(page.url()).toBe(url + FORM);
});

test("a redirect of a fetcher's action shows a toast", async ({ page, url }) => {
  await open(page, url + FORM);
  await page.evaluate(
    ([form, target]) => {
      const formData = new FormData();
      for (const [name, value] of Object.entries({ name: "Ada", page: target })) formData.set(name, value);
      // What useFetcher calls. With the hook, the example pages would exceed their budget (test/budget.slow.ts).
      const router = window.__reactRouterDataRouter as unknown as { fetch: (...values: unknown[]) => Promise<void> };
      return router.fetch("key", "toast/examples/redirect", form, { formMethod: "post", formData });
    },
    [FORM, CACHED] as const,
  );
  await message(page, "Saved Ada").waitFor();
  expect(page.url()).toBe(url + CACHED);
});

const browsers = [
  { cookieStore: "with", reads: 0 },
  { cookieStore: "without", reads: 1 },
];

/** Counts the reads of document.cookie, in a browser with or without the Cookie Store API. */
async function countReads(page: Page, cookieStore: string) {
  await page.addInitScript((cookieStore) => {
    Object.assign(window, { reads: 0 });
    if (cookieStore === "without") Object.defineProperty(window, "cookieStore", { value: undefined });
    const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, "cookie") as PropertyDescriptor;
    const read = () => {
      Reflect.set(window, "reads", Reflect.get(window, "reads") + 1);
      return get?.call(document);
    };
    Object.defineProperty(document, "cookie", { get: read, set: (value) => set?.call(document, value) });
  }, cookieStore);
  return () => page.evaluate(() => Reflect.get(window, "reads"));
}

describe("the two pages", () => {
  test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);
  test.for(["/", "/nowhere"].flatMap((path) => browsers.map((browser) => ({ path, ...browser }))))(
    "$path, $cookieStore Cookie Store API: a page load reads document.cookie $reads times",
    async ({ path, cookieStore, reads }, { page, url }) => {
      const read = await countReads(page, cookieStore);
      await open(page, url + path);
      await page.waitForLoadState("networkidle");
      expect(await read()).toBe(reads);
    },
  );
});

test.for(browsers.flatMap((browser) => [CACHED, OWN_DOCUMENT].map((target) => ({ target, ...browser }))))(
  "$cookieStore Cookie Store API, a toast shows after a redirect to $target, once",
  async ({ cookieStore, target }, { page, url }) => {
    await countReads(page, cookieStore);
    await open(page, url + FORM);
    await save(page, NAME, target);
    await message(page, `Saved ${NAME}`).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await expectNoToast(page);
  },
);
