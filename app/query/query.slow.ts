import type { Page } from "playwright-core";
import { test as base, expect, open } from "../../test/support/fixtures.ts";

const test = base
  .extend("url", ({ examplesServer }) => `${examplesServer.url}/example-pages/query`)
  .extend("basketUrl", ({ examplesServer }) => `${examplesServer.url}/example-pages/basket`)
  // Each page has a context of its own, because its clock is its context's.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      () =>
        browser.newPage(),
  );

const query = (page: Page) => page.getByText("Query:");
const attempts = (page: Page) => page.evaluate(() => window.attempts ?? []);

/** From here on, the page's time passes only when the test advances it. */
async function openInFakeTime(page: Page, url: string) {
  await page.clock.install();
  await open(page, url);
  await page.clock.pauseAt(Date.now() + 60_000);
}

test.for([
  { how: "by default", search: "?fail", delays: [1000, 2000, 4000] },
  { how: "at most 30 s apart", search: "?fail&retry=7", delays: [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] },
])("a failing query is tried again $how", async ({ search, delays }, { page, url }) => {
  await openInFakeTime(page, url + search);
  await page.getByRole("button", { name: "Query" }).click();
  await expect.poll(async () => (await attempts(page)).length).toBe(1);
  await page.clock.runFor(100_000);
  await query(page).filter({ hasText: "error" }).waitFor();
  const times = await attempts(page);
  expect(times.slice(1).map((time, i) => time - (times[i] as number))).toEqual(delays);
});

test.for([
  { minutes: 4.9, status: "success" },
  { minutes: 5.1, status: "pending" },
])("a query unused for $minutes minutes has the status $status", async ({ minutes, status }, { page, url }) => {
  await openInFakeTime(page, url);
  const toggle = page.getByRole("button", { name: "Query" });
  await toggle.click();
  await expect.poll(async () => (await attempts(page)).length).toBe(1);
  await page.clock.runFor(200);
  await query(page).filter({ hasText: "success" }).waitFor();
  await toggle.click();
  await page.clock.runFor(minutes * 60_000);
  await toggle.click();
  expect(await query(page).textContent()).toBe(`Query: ${status}`);
});

test("renders that overlap never share a query client", async ({ examplesServer }) => {
  const names = ["ada", "grace", "linus"];
  const pages = await Promise.all(names.map((name) => fetch(`${examplesServer.url}/example-pages/visitors/${name}`)));
  const texts = await Promise.all(pages.map((response) => response.text()));
  expect(texts.map((text) => /<p>(.*?)<\/p>/.exec(text)?.[1])).toEqual(names);
});

test("a query shows what the browser fetches", async ({ page, examplesServer }) => {
  await open(page, `${examplesServer.url}/example-pages/count`);
  await page.getByText("Items: 0").waitFor();
});

test("the HTML has each user's own data, also if renders overlap", async ({ basketUrl }) => {
  const counts = [1, 2, 3];
  const pages = await Promise.all(
    counts.map((count) => fetch(basketUrl, { headers: { Cookie: `basket=${btoa(`${count}`)}` } })),
  );
  const texts = await Promise.all(pages.map((response) => response.text()));
  expect(texts.map((text) => /<p>(.*?)<\/p>/.exec(text)?.[1])).toEqual(counts.map((count) => `Items: ${count}`));
});

/** The methods of the page's requests for the items, from here on. */
function listItemRequests(page: Page) {
  const methods: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/basket-items")) methods.push(request.method());
  });
  return methods;
}

test.for([
  { result: "succeeds", search: "", html: "Items: 0", fetched: [] },
  { result: "fails", search: "?fail", html: "Items: loading", fetched: ["GET"] },
])(
  "if the server's query $result, the browser fetches $fetched before a mutation",
  async ({ search, html, fetched }, { page, basketUrl }) => {
    const requests = listItemRequests(page);
    const response = await open(page, basketUrl + search);
    expect(await response?.text()).toContain(`<p>${html}</p>`);
    await page.getByText("Items: 0").waitFor();
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("Items: 1").waitFor();
    expect(requests).toEqual([...fetched, "POST", "GET"]);
  },
);

test("a mutation that the server rejects shows an error", async ({ page, basketUrl, consoleMessages }) => {
  await page.route("**/basket-items", (route) => route.fulfill({ status: 503 }));
  await open(page, basketUrl);
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByText("Items:").textContent()).toBe("Items: 0");
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining("503")]);
});
