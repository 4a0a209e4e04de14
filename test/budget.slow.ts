import { readdirSync, readFileSync, statSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { inject } from "vitest";
import routes from "../app/routes.ts";
import { brotliSize, expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";

// The size of the greeting's documents and of the app shell, in an application of any size.

/** Brotli bytes of a document, with its styles. */
const MAX_DOCUMENT_BYTES = 3000;
/** Brotli bytes until a page is interactive. If the project has `further` pages, they may use more of the app shell. */
const MAX_INTERACTIVE_BYTES = { two: 107_280, further: 117_700 };
/** Of these, what an edit may change. The rest are packages, which browsers still have after a release. */
const MAX_EDITED_BYTES = 10_000;
/** Brotli bytes of the script that measures web vitals. It loads after the page. */
const MAX_VITALS_BYTES = 2048;
const VITALS = /^web-vitals-.*\.js$/;
/** The bytes that a further route may add: its entries in the browser's two route lists. */
const MAX_ROUTE_BYTES = 100;

type Entries = readonly { children?: Entries | undefined }[];

const countPages = (entries: Entries): number =>
  entries.reduce((sum, { children = [] }) => sum + (children.length > 0 ? countPages(children) : 1), 0);

const GROWN = inject("examplesFolder");
const PROJECTS = [
  { folder: ".", project: "the project", pages: countPages(await routes) > 2 ? "further" : "two" },
  { folder: GROWN, project: "the project with example pages", pages: "further" },
] as const;
const SHELL = /^(entry\.client|manifest|root|home|not-found)-.*\.js$/;

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

const listAssets = (folder: string) => readdirSync(`${folder}/build/client/assets`);

test.for(
  PROJECTS.flatMap((project) => [
    { ...project, path: "/", count: 4, shared: 1, styles: 0 },
    { ...project, path: "/nowhere", count: 5, shared: 2, styles: 0 },
  ]),
)(
  "in $project $path has a small document, and loads $count small scripts and $styles stylesheets",
  async ({ folder, pages, path, count, shared, styles }, { page, server, examplesServer }) => {
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url().replace(/.*\//, "")));
    const listScripts = () => loaded.filter((name) => name.endsWith(".js") && !VITALS.test(name));
    const countStyles = () => loaded.filter((name) => name.endsWith(".css")).length;
    const response = await open(page, (folder === GROWN ? examplesServer : server).url + path);
    const document = brotliCompressSync((await response?.body()) ?? "").length;
    // The script of home is prefetched, so it comes last.
    await expect.poll(() => listScripts().length).toBeGreaterThanOrEqual(count);
    await page.waitForLoadState("networkidle");
    const ofRoutes = (await page.evaluate(() => JSON.stringify(window.__ROUTES__).split('"file"').length - 1)) - 2;
    const size = brotliSize(folder, listScripts()) - ofRoutes * MAX_ROUTE_BYTES;
    console.log(
      `${path}: a document of ${document} bytes, ${listScripts().length} scripts of ${size} of at most ${MAX_INTERACTIVE_BYTES[pages]} (brotli), ${countStyles()} stylesheets`,
    );
    // Further routes may share a module with each of these.
    expect(listScripts().length).toBeLessThanOrEqual(pages === "two" ? count : count + shared);
    expect(countStyles()).toBe(styles);
    expect(document).toBeLessThanOrEqual(MAX_DOCUMENT_BYTES);
    expect(size).toBeLessThanOrEqual(MAX_INTERACTIVE_BYTES[pages]);
    const edited = listScripts().filter((name) => !name.startsWith("entry.client-"));
    expect(brotliSize(folder, edited)).toBeLessThanOrEqual(MAX_EDITED_BYTES);
  },
);

test("the script of web vitals is small, and isn't in the document", async ({ server }) => {
  // The engine's. The site may use the package itself, too.
  const isOfEngine = (name: string) => /["'`]web-vitals["'`]/.test(readFileSync(`build/client/assets/${name}`, "utf8"));
  const names = listAssets(".").filter((name) => VITALS.test(name) && isOfEngine(name));
  expect(names).toHaveLength(readFileSync("app/entry.client.tsx", "utf8").includes("sendWebVitals()") ? 1 : 0);
  expect(brotliSize(".", names)).toBeLessThanOrEqual(MAX_VITALS_BYTES);
  expect(await (await fetch(server.url)).text()).not.toContain("web-vitals");
});

test.for(["/", "/nowhere"])(
  "the HTML of %s stays the same when pages are added, except for the hashes in file names",
  async (path, { server, examplesServer }) => {
    const [own, grown] = await Promise.all(
      [server, examplesServer].map(async ({ url }) => (await fetch(url + path)).text()),
    );
    const withoutHashes = (html = "") => html.replaceAll(/-[\w-]{8}\.js/g, ".js");
    expect(withoutHashes(grown)).toBe(withoutHashes(own));
  },
);

test.for(["/", "/nowhere"])(
  "%s preloads each of its scripts once, the largest first, and loads scripts with low priority",
  async (path, { page, server }) => {
    const protocol = await page.context().newCDPSession(page);
    const priorities = new Set<string>();
    protocol.on("Network.requestWillBeSent", ({ type, request }) => {
      if (type === "Script") priorities.add(request.initialPriority);
    });
    await protocol.send("Network.enable");
    const response = await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
    expect([...priorities]).toEqual(["Low"]);
    const html = (await response?.text()) ?? "";
    const preloads = Array.from(
      html.matchAll(/<link [^>]*rel="modulepreload" href="[^"]*\/([^"]+)"/g),
      ([, name]) => name,
    );
    expect(preloads.length).toBeGreaterThan(2);
    expect(preloads).toEqual([...new Set(preloads)]);
    const sizes = preloads.map((name) => statSync(`build/client/assets/${name}`).size);
    expect(sizes[0]).toBe(Math.max(...sizes));
  },
);

test.for(listAssets(".").filter((name) => SHELL.test(name)))(
  "%s holds no styles and nothing of the framework's development tools",
  async (name, { server }) => {
    const read = (name: string) => readFileSync(`build/client/assets/${name}`, "utf8");
    const [, inDocument = ""] = /<style[^>]*>(.*?)<\/style>/s.exec(await (await fetch(server.url)).text()) ?? [];
    const inFiles = listAssets(".").filter((file) => file.endsWith(".css"));
    const rules = [inDocument, ...inFiles.map(read)].join("").match(/[^{}]+\{[^{}]+\}/g) ?? [];
    expect(rules.length, "the document has no styles").toBeGreaterThan(0);
    expect(rules.filter((rule) => read(name).includes(rule))).toEqual([]);
    // A text of @react-router/dev/routes, which app/routes.ts imports.
    expect(read(name)).not.toContain("A route cannot use the reserved id");
  },
);
