import routes from "../app/routes.ts";
import examplePages from "./fixtures/examples/routes.ts";
import { expect, open, test } from "./support/fixtures.ts";

test.for([
  { path: "/example-pages/notes/3", title: "Page not found", texts: ["👋", "404", "Oops! Page not found"] },
  {
    path: "/example-pages/broken/response",
    title: "Oops! Something went wrong",
    texts: ["👋", "500", "Oops! Something went wrong"],
  },
])("$path shows the error page", async ({ path, title, texts }, { page, examplesServer, consoleMessages }) => {
  await open(page, examplesServer.url + path);
  expect(await page.title()).toBe(title);
  expect(await page.locator("main > *").allTextContents()).toEqual([...texts, "Return to Home"]);
  const isExpected = /status of (404|500)|^error: Page not found/;
  expect(consoleMessages.splice(0).filter((message) => !isExpected.test(message))).toEqual([]);
});

test("the helpers of routes.ts make the same list in the browser", async ({ page, examplesServer }) => {
  await open(page, examplesServer.url);
  // A list in JSON has no undefined fields.
  const expected = JSON.parse(JSON.stringify([...examplePages, ...routes]));
  expect(await page.evaluate(() => window.__ROUTES__)).toEqual(expect.arrayContaining(expected));
});
