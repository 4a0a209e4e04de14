// biome-ignore-all lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
// The project below a path, and with its assets at another origin: each is a production build of its own.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { Page } from "playwright-core";
import { findFreePort, keepViolations, startServer } from "react-router-express-server/testing";
import { buildWith, copyProject, setBase } from "./support/copy-project.ts";
import { test as base, expect, NOT_FOUND_MESSAGES, open } from "./support/fixtures.ts";
import { run } from "./support/packed-engine.ts";

const ORIGIN = "https://www.example.org";

/** A CDN that pulls: it requests the same path from the site, and sends its response with its headers. */
async function startCdn(port: number, siteUrl: string) {
  const paths: string[] = [];
  const cdn = createServer(({ url = "", headers }, res) => {
    paths.push(url);
    const options = { headers: { ...headers, host: new URL(siteUrl).host } };
    request(siteUrl + url, options, (response) => {
      res.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(res);
    }).end();
  });
  await once(cdn.listen(port, "127.0.0.1"), "listening");
  return { paths, stop: () => void cdn.close().closeAllConnections() };
}

const test = base
  // Each page has cookies of its own.
  .extend(
    "newPage",
    { scope: "file" },
    ({ browser }) =>
      async () =>
        (await browser.newContext()).newPage(),
  )
  .extend("below", { scope: "file" }, async ({}, { onCleanup }) => {
    const folder = await buildWith({ basename: "/app/", base: "/app/" });
    const server = await startServer({ ORIGIN }, folder);
    onCleanup(async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    return server;
  })
  .extend("withCdn", { scope: "file" }, async ({}, { onCleanup }) => {
    const cdnOrigin = `http://127.0.0.1:${await findFreePort()}`;
    const folder = await buildWith({ base: `${cdnOrigin}/` });
    const server = await startServer({}, folder);
    const cdn = await startCdn(Number(new URL(cdnOrigin).port), server.url);
    onCleanup(async () => {
      cdn.stop();
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    return { ...server, folder, cdnOrigin, cdnPaths: cdn.paths };
  });

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

const violationsOf = (page: Page) => page.evaluate(() => window.violations);

/** The paths of a page's icons, manifest, scripts and styles. */
async function findLinked(url: string) {
  const html = await (await fetch(url)).text();
  return [...html.matchAll(/<link [^>]*\bhref="([^"]+)"|(?:from|import) ?"([^"]+\.js)"/g)].map(
    ([, href, module]) => href ?? module ?? "",
  );
}

test.for([
  ["/app/", 200, undefined],
  ["/app", 308, "/app/"],
  ["/app?a=b", 308, "/app/?a=b"],
  ["/APP/", 200, undefined],
  ["/app/nowhere", 404, undefined],
  ["/app/assets/nothing.js", 404, undefined],
  ["/app/zoe%CC%88", 404, undefined],
  ["/app/100%", 404, undefined],
  ["/app/icon.svg", 200, undefined],
  ["/app/licenses.md", 200, undefined],
  ["/app/example-pages/broken/data.data", 200, undefined],
  // Nothing of the site is outside.
  ["/", 404, undefined],
  ["/nowhere", 404, undefined],
  ["/application", 404, undefined],
  ["/icon.svg", 404, undefined],
  ["/browser-reports", 404, undefined],
  ["/example-pages/about", 404, undefined],
] as const)("below /app/, %s gets %i, and leads to %s", async ([path, status, location], { below }) => {
  const response = await fetch(new URL(path, below.url), { redirect: "manual" });
  expect([response.status, response.headers.get("Location") ?? undefined]).toEqual([status, location]);
  const isOutside = !/^\/app(\/|\?|$)/i.test(path);
  if (isOutside) expect(await response.text()).toBe("Not Found\n");
  expect(response.headers.get("Reporting-Endpoints")).toMatch(/^default="\/app\/browser-reports"$|^$/);
});

test("below /app/, every linked file is there, and the canonical URL has the path", async ({ below }) => {
  const linked = await findLinked(`${below.url}/`);
  const own = linked.filter((href) => !href.startsWith(ORIGIN));
  expect(own.length).toBeGreaterThan(6);
  for (const href of own) {
    expect(href).toMatch(/^\/app\//);
    expect([href, (await fetch(new URL(href, below.url))).status]).toEqual([href, 200]);
  }
  expect(linked).toContain(`${ORIGIN}/app/`);
  const manifestUrl = `${below.url}/site.webmanifest`;
  const manifest = await (await fetch(manifestUrl)).json();
  for (const path of [manifest.start_url, ...manifest.icons.map(({ src }: { src: string }) => src)]) {
    const { href, pathname } = new URL(path, manifestUrl);
    expect(pathname).toMatch(/^\/app\//);
    expect([pathname, (await fetch(href)).status]).toEqual([pathname, 200]);
  }
});

test("below /app/, pages hydrate, links lead to pages, and unknown paths to the not-found page", async ({
  page,
  below,
}) => {
  await keepViolations(page);
  await open(page, `${below.url}/nowhere`);
  await page.getByRole("link", { name: "Return to Home" }).click();
  await page.getByRole("heading", { name: "Hello World" }).waitFor();
  expect(page.url()).toBe(`${below.url}/`);
  expect(await violationsOf(page)).toEqual([]);
});

test("an operator purges the paths that browsers show", async ({ below }) => {
  const purge = async (query: string) => {
    const response = await fetch(`${below.opsUrl}/cache/invalidate?${query}`, { method: "POST" });
    return [response.status, response.ok ? (await response.json()).keys : undefined];
  };
  const warm = () => fetch(`${below.url}/`);
  await warm();
  expect(await purge("path=/app/")).toEqual([200, ["/app/"]]);
  await warm();
  expect(await purge("path=/app")).toEqual([200, ["/app/"]]);
  expect(await purge("path=/")).toEqual([404, undefined]);
  await warm();
  expect(await purge("prefix=/app/")).toEqual([200, expect.arrayContaining(["/app/"])]);
});

test("below /app/, an error of a script is reported, and logged with its route", async ({
  page,
  below,
  consoleMessages,
}) => {
  await open(page, `${below.url}/`);
  await page.evaluate(
    () => void setTimeout(() => dispatchEvent(new ErrorEvent("error", { error: new Error("oops") }))),
  );
  await expect
    .poll(() => below.lines.filter(({ msg }) => msg === "browser report"))
    .toEqual([expect.objectContaining({ "exception.message": "oops", "url.path": "/app/", "http.route": "/" })]);
  consoleMessages.length = 0;
});

test("below /app/, the site's own tests pass as they are", ({ onTestFinished }) => {
  const folder = copyProject({ withTests: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  setBase(folder, { basename: "/app/", base: "/app/" });
  run(folder, "npm run format && npm run test:site");
  run(folder, "npx vitest run --project slow budget greeting layout query toast/toast tooltip");
});

test("with assets at another origin, pages hydrate, and load scripts, styles and images from there", async ({
  page,
  withCdn: { url, cdnOrigin, cdnPaths },
}) => {
  await keepViolations(page);
  await open(page, `${url}/example-pages/prices`);
  const padding = () =>
    page
      .locator("main li")
      .first()
      .evaluate((item) => getComputedStyle(item).paddingLeft);
  await expect.poll(padding).toBe("16px"); // Tailwind's
  const image = page.locator("li img").first();
  await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(16);
  expect(await image.getAttribute("src")).toContain(`${cdnOrigin}/assets/`);
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("heading", { name: "Hello World" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  expect(loaded.filter((name) => name.startsWith(`${url}/assets/`))).toEqual([]);
  expect(cdnPaths.length).toBeGreaterThan(3);
});

test("with assets at another origin, icons and the manifest stay at the site's", async ({ withCdn: { url } }) => {
  expect(await findLinked(url)).toEqual(
    expect.arrayContaining(["/favicon.ico", "/icon.svg", "/apple-touch-icon.png", "/site.webmanifest"]),
  );
});

test.for([
  { from: "memory", env: {} as Record<string, string> },
  { from: "disk", env: { STATIC_FILES_MAX_BYTES: "1000" } },
])("with assets at another origin, pages of every origin may load files from $from", async ({ env }, { withCdn }) => {
  const server = await startServer(env, withCdn.folder);
  const assets = (await findLinked(server.url)).filter((href) => href.startsWith(withCdn.cdnOrigin));
  expect(assets.length).toBeGreaterThan(2);
  for (const path of ["/icon.svg", "/preview.jpg", ...assets.map((href) => new URL(href).pathname)]) {
    const { status, headers } = await fetch(server.url + path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("cross-origin");
  }
  await server.stop();
});

test("without another origin, no file may be loaded by pages of other sites", async ({ below }) => {
  const { headers } = await fetch(`${below.url}/icon.svg`);
  expect(headers.get("Access-Control-Allow-Origin")).toBe(null);
  expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
});
