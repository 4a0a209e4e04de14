import { readFileSync } from "node:fs";
import { keepViolations } from "react-router-express-server/testing";
import { compile } from "tailwindcss";
import { expect } from "vitest";
import routes from "../app/routes.ts";
import { test } from "./support/fixtures.ts";

type Entries = readonly { path?: string | undefined; children?: Entries | undefined }[];

/** An address of every route, with "1" for each parameter. */
function addressesOf(entries: Entries, parent = ""): string[] {
  return entries.flatMap(({ path = "", children = [] }) => {
    const pattern = path.startsWith("/") ? path : `${parent}/${path}`.replace("//", "/");
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

/** The class names in a page for which none of its styles has a rule. */
function findUnstyledClasses() {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText)).join();
  const names = [...document.querySelectorAll("[class]")].flatMap(({ classList }) => [...classList]);
  return names.filter((name) => !rules.includes(`.${CSS.escape(name)}`));
}

/** The class names for which Tailwind has a rule. */
async function findUtilities(names: string[]) {
  const styles = ["node_modules/tailwindcss/index.css", "app/theme.css"].map((file) => readFileSync(file, "utf8"));
  const { build } = await compile(styles.join("\n"));
  return names.filter((name) => build([]) !== build([name])); // It returns the rules of earlier names, too.
}

test.for([...new Set(addressesOf(await routes))])(
  "%s has a title and its styles, and its policy blocks nothing",
  async (path, { page, server }) => {
    const { headers } = await fetch(server.url + path, { method: "HEAD", redirect: "manual" });
    if (!headers.get("Content-Type")?.startsWith("text/html")) return;
    await page.route(
      ({ href }) => !href.startsWith(`${server.url}/`),
      (route) => route.abort(),
    );
    await keepViolations(page);
    await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
    // HTML of a resource route, or of a page without scripts, has nothing to hydrate.
    await page.waitForFunction(() => {
      const isHydrated = (element: Element) => Object.keys(element).length > 0;
      return (
        !document.querySelector("#root") ||
        !document.querySelector("script[src], script[type=module]") ||
        [...document.querySelectorAll("#root *")].some(isHydrated)
      );
    });
    // Effects have run, too. If it doesn't paint the page, Chromium's headless shell is never idle.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 })));
    expect(await page.evaluate(() => window.violations)).toEqual([]);
    if (!(await page.locator("#root").count())) return;
    expect.soft(await page.title(), "the route has no title: export `meta`, or render <title>").not.toBe("");
    const unstyled = await findUtilities(await page.evaluate(findUnstyledClasses));
    expect(unstyled, 'Tailwind\'s classes need `import "../tailwind.css"` in the route or its layout').toEqual([]);
  },
);
