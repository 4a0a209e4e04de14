import { readdirSync, readFileSync, statSync } from "node:fs";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";

const ASSETS = "build/client/assets";
/** Brotli, of what the browser loads before a page is interactive. */
const MAX_INTERACTIVE_BYTES = 106_000;
/** The same with both toast systems. */
const MAX_TOTAL_BYTES = 120_000;

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

const scripts = readdirSync(ASSETS).filter((name) => name.endsWith(".js"));

function brotliSize(names: string[]) {
  return names.reduce((sum, name) => sum + statSync(`${ASSETS}/${name}.br`).size, 0);
}

test.for([
  { path: "/", count: 4 },
  { path: "/nowhere", count: 5 },
])("$path loads $count scripts, small ones, and no stylesheet", async ({ path, count }, { page, server }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url().replace(/.*\//, "")));
  await open(page, server.url + path);
  const isScript = (name: string) => name.endsWith(".js");
  // The one of home, which is loaded beforehand, comes last.
  await expect.poll(() => loaded.filter(isScript).length).toBe(count);
  await page.waitForLoadState("networkidle");
  const size = brotliSize(loaded.filter(isScript));
  console.log(`${path}: ${size} bytes of at most ${MAX_INTERACTIVE_BYTES} (brotli)`);
  expect(loaded.filter(isScript)).toHaveLength(count);
  expect(loaded.filter((name) => name.endsWith(".css"))).toEqual([]);
  expect(size).toBeLessThanOrEqual(MAX_INTERACTIVE_BYTES);
});

test.for(["/", "/nowhere"])("%s has its scripts wait for what it shows", async (path, { page, server }) => {
  const protocol = await page.context().newCDPSession(page);
  const priorities = new Set<string>();
  protocol.on("Network.requestWillBeSent", ({ type, request }) => {
    if (type === "Script") priorities.add(request.initialPriority);
  });
  await protocol.send("Network.enable");
  await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
  expect([...priorities]).toEqual(["Low"]);
});

test("with both toast systems too the scripts are small", () => {
  expect(scripts).toContainEqual(expect.stringMatching(/^toasters-/));
  const size = brotliSize(scripts);
  console.log(`all scripts: ${size} bytes of at most ${MAX_TOTAL_BYTES} (brotli)`);
  expect(size).toBeLessThanOrEqual(MAX_TOTAL_BYTES);
});

test.for(scripts)("%s holds no styles and nothing of the framework's development tools", async (name, { server }) => {
  const script = readFileSync(`${ASSETS}/${name}`, "utf8");
  const [, inDocument = ""] = /<style[^>]*>(.*?)<\/style>/s.exec(await (await fetch(server.url)).text()) ?? [];
  const inFiles = readdirSync(ASSETS).filter((file) => file.endsWith(".css"));
  const styles = [inDocument, ...inFiles.map((file) => readFileSync(`${ASSETS}/${file}`, "utf8"))].join("");
  const rules = styles.match(/[^{}]+\{[^{}]+\}/g) ?? [];
  expect(rules.length).toBeGreaterThan(20);
  expect(rules.filter((rule) => script.includes(rule))).toEqual([]);
  // What the helpers of @react-router/dev/routes would bring along (app/routes.ts).
  expect(script).not.toContain("A route cannot use the reserved id");
});
