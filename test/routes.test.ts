import { expect } from "vitest";
import routes from "../app/routes.ts";
import { test } from "./support/fixtures.ts";
import { keepViolations } from "./support/violations.ts";

type Entries = readonly { path?: string | undefined; children?: Entries | undefined }[];

/** An address of every route, with "1" for each parameter. */
function addressesOf(entries: Entries, parent = ""): string[] {
  return entries.flatMap(({ path = "", children = [] }) => {
    const pattern = path.startsWith("/") ? path : `${parent}/${path}`;
    return [
      pattern
        .replace(/:[^/]+/g, "1")
        .replace("*", "nowhere")
        .replaceAll("?", ""),
      ...addressesOf(children, pattern),
    ];
  });
}

// Only the policy is looked at: what else pages write to the console is theirs.
test.override("ignoredMessages", () => /^/);

test.for([...new Set(addressesOf(await routes))])("the policy blocks nothing of %s", async (path, { page, server }) => {
  const { headers } = await fetch(server.url + path, { method: "HEAD", redirect: "manual" });
  if (!headers.get("Content-Type")?.startsWith("text/html")) return;
  await page.route(
    ({ origin }) => origin !== server.url,
    (route) => route.abort(),
  );
  await keepViolations(page);
  await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
  // HTML that a resource route responds with has nothing to hydrate.
  await page.waitForFunction(() => {
    const isHydrated = (element: Element) => Object.keys(element).length > 0;
    return !document.querySelector("#root") || [...document.querySelectorAll("#root *")].some(isHydrated);
  });
  // What the page's effects do is done, too. Of a page that it doesn't draw, Chromium's headless shell never says idle.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 })));
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});
