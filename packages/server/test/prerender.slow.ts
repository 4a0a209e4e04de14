// Pages that React Router prerenders at build time (docs/caching.md).
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { keepViolations, startServer } from "react-router-express-server/testing";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { test as base, expect, open } from "./support/fixtures.ts";

const ROUTES = `import { index, route } from "@react-router/dev/routes";
export default [
  index("routes/home.tsx", { id: "home" }),
  route("chapters/:name", "routes/chapter.tsx"),
  route("news/:day", "routes/news.tsx"),
  route("chapters.json", "routes/chapters.ts"),
  route("*", "routes/not-found.tsx", { id: "404" }),
];`;

const HOME = `import { Link } from "react-router";
export const meta = () => [{ title: "Home" }];
export default () => <main><h1>Home</h1><Link to="/chapters/one?page=2">One</Link></main>;`;

/** Its data is at hand only while the site is built. */
const CHAPTER = `import { readFileSync } from "node:fs";
import { useState } from "react";
export const loader = ({ params }) => ({ text: readFileSync(\`chapters/\${params.name}.txt\`, "utf8") });
export const action = () => ({});
export const handle = { securityHeaders: { "Content-Security-Policy": "img-src https://images.example" } };
export const meta = () => [{ title: "Chapter" }];
export default function Chapter({ loaderData }) {
  const [count, setCount] = useState(0);
  return (
    <main><h1>{loaderData.text}</h1><button type="button" onClick={() => setCount(count + 1)}>{count}</button></main>
  );
}`;

/** The data that it streams fails. */
const STREAMED = `import { Suspense } from "react";
import { Await } from "react-router";
export const loader = () => ({ news: new Promise((_, reject) => setTimeout(reject, 50, new Error("no news"))) });
export const meta = () => [{ title: "News" }];
export default ({ loaderData }) => (
  <main><h1>News</h1><Suspense><Await resolve={loaderData.news}>{(news) => news}</Await></Suspense></main>
);`;

const RESOURCE = `export const loader = () => Response.json(["one", "zoë"]);`;

function createSite(prerender: string) {
  const folder = copySite();
  const files = {
    "app/routes.ts": ROUTES,
    "app/routes/home.tsx": HOME,
    "app/routes/chapter.tsx": CHAPTER,
    "app/routes/news.tsx": STREAMED,
    "app/routes/chapters.ts": RESOURCE,
    "chapters/one.txt": "The first chapter. ".repeat(100),
    "chapters/zoë.txt": "Zoë",
  };
  mkdirSync(`${folder}/chapters`);
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}`, text);
  const config = `${folder}/react-router.config.ts`;
  writeFileSync(config, readFileSync(config, "utf8").replace("export default {", `$&\n  prerender: ${prerender},`));
  return folder;
}

const test = base.extend("site", { scope: "file" }, async ({ browser: _ }, { onCleanup }) => {
  const folder = createSite(
    '{ paths: ({ getStaticPaths }) => [...getStaticPaths(), "/chapters/one", "/chapters/zoë"], concurrency: 2 }',
  );
  await build(folder);
  rmSync(`${folder}/chapters`, { recursive: true });
  const server = await startServer({}, folder);
  onCleanup(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return { ...server, folder };
});

test.for([
  ["/", "text/html; charset=utf-8", "<h1>Home</h1>"],
  ["/chapters/one", "text/html; charset=utf-8", "The first chapter."],
  ["/chapters/one?page=2", "text/html; charset=utf-8", "The first chapter."],
  ["/chapters/zo%C3%AB", "text/html; charset=utf-8", "<h1>Zoë</h1>"],
  ["/chapters/one.data", "text/x-script", "The first chapter."],
  ["/chapters.json", "application/json; charset=utf-8", '["one","zoë"]'],
])("%s is sent as a cached page is, without its data at run time", async ([path, type, text], { site }) => {
  const response = await fetch(site.url + path);
  const { headers } = response;
  expect([response.status, headers.get("Content-Type")]).toEqual([200, type]);
  const body = await response.text();
  expect(body).toContain(text);
  expect(body).not.toContain("nonce=");
  expect(headers.get("Cache-Control")).toBe(CACHED_FOR_A_MINUTE);
  expect(headers.get("Vary")).toBe("Accept-Encoding");
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(headers.get("Server-Timing")).toMatch(/^release;desc="\w+"$/);
  const ETag = headers.get("ETag") ?? "";
  expect((await fetch(site.url + path, { headers: { "If-None-Match": ETag } })).status).toBe(304);
  expect((await fetch(site.url + path, { method: "HEAD" })).headers.get("ETag")).toBe(ETag);
});

test("the policy allows the page's inline scripts by their hashes, and what its handle adds", async ({ site }) => {
  const response = await fetch(`${site.url}/chapters/one`);
  const html = await response.text();
  const policy = response.headers.get("Content-Security-Policy");
  const scripts = [...html.matchAll(/<script(?![^>]* src=)[^>]*>(.+?)<\/script>/gs)].map(([, content = ""]) => content);
  const hashes = scripts.map((content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  expect(hashes.length).toBeGreaterThan(0);
  for (const hash of hashes) expect(policy).toContain(hash);
  expect(policy).toContain("https://images.example");
});

test.for(["br", "gzip"])("the build has compressed the page with %s", async (coding, { site }) => {
  const get = (accepted: string) => fetch(`${site.url}/chapters/one`, { headers: { "Accept-Encoding": accepted } });
  const response = await get(coding);
  expect(response.headers.get("Content-Encoding")).toBe(coding);
  expect(response.headers.get("ETag")).toMatch(new RegExp(`-${coding}"$`));
  expect(Number(response.headers.get("Content-Length"))).toBeLessThan(
    Number((await get("identity")).headers.get("Content-Length")),
  );
});

test("other paths of the route are rendered, and actions run", async ({ site }) => {
  expect((await fetch(`${site.url}/chapters/two`)).status).toBe(500);
  expect((await fetch(`${site.url}/chapters/one.data`, { method: "POST", body: new FormData() })).status).toBe(200);
  expect((await fetch(`${site.url}/chapters/one`)).status).toBe(200);
  expect((await fetch(`${site.url}/chapters/one/index.html`)).status).toBe(404);
  expect(existsSync(`${site.folder}/build/client/chapters.json`)).toBe(false);
});

test("in the browser, the pages hydrate, and a link loads the data of the next", async ({ page, site }) => {
  await keepViolations(page);
  await open(page, site.url);
  await page.getByRole("link", { name: "One" }).click();
  await page.getByRole("heading", { name: "The first chapter." }).waitFor();
  await open(page, `${site.url}/chapters/one`);
  await page.getByRole("button", { name: "0" }).click();
  await page.getByRole("button", { name: "1" }).waitFor();
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});

test.for([
  ["true", ["/", "/chapters.json", "/chapters.json.data"]],
  ['["/chapters/one/"]', ["/chapters/one", "/chapters/one/_.data"]],
  ["false", []],
] as const)("with prerender: %s, the build lists the responses", async ([prerender, paths], { onTestFinished }) => {
  const folder = createSite(prerender);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Of an earlier build.
  mkdirSync(`${folder}/build`);
  writeFileSync(`${folder}/build/prerendered.json`, '[{ "path": "/old" }]');
  await build(folder);
  const list = `${folder}/build/prerendered.json`;
  const listed: { path: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  expect(listed.map(({ path }) => path).sort()).toEqual(paths);
});

test.for([
  ['["/chapters/two"]', "chapters/two.txt"],
  ['["/news/today"]', "the data that a page streams failed"],
  ['["/nowhere/"]', "404"],
] as const)(
  "with prerender: %s, the build fails, and names the reason",
  async ([prerender, reason], { onTestFinished }) => {
    const folder = createSite(prerender);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await expect(build(folder)).rejects.toThrow(reason);
  },
);
