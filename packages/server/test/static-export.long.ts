// The files of the example static-export, served by a real nginx as its README says.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findFreePort } from "react-router-express-server/testing";
import { afterAll, beforeAll } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { SITE } from "./support/site.ts";
import { SERVER_ENV } from "./support/start-server.ts";

const EXAMPLE = fileURLToPath(new URL("../examples/static-export", import.meta.url));
const FOLDER = `${SITE}/build/static`;
const PATHS = [
  "/example-pages/about",
  "/example-pages/catalogue/1",
  "/example-pages/feed.md",
  "/example-pages/notes/1",
];

let nginx: Awaited<ReturnType<typeof startNginx>>;
let url: string;

beforeAll(async () => {
  execFileSync(process.execPath, [`${EXAMPLE}/static-export.js`, ...PATHS], { cwd: SITE, env: SERVER_ENV });
  const [, server = ""] = /```nginx\n(.*?)```/s.exec(readFileSync(`${EXAMPLE}/README.md`, "utf8")) ?? [];
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  const http = server.replace("listen 80", `listen 127.0.0.1:${port}`).replaceAll("/srv/static", FOLDER);
  nginx = await startNginx(`include /etc/nginx/mime.types;\n${http}`, "return 204;");
});

afterAll(async () => {
  await nginx?.stop();
  rmSync(FOLDER, { recursive: true, force: true });
});

const HEADERS = [
  "Content-Type",
  "Content-Security-Policy",
  "Cache-Control",
  "X-Content-Type-Options",
  "X-Frame-Options",
];

test.for([
  ["/", 200],
  ["/example-pages/about", 200],
  ["/example-pages/feed.md", 200],
  ["/nowhere", 404],
  ["/example-pages/about/nowhere", 404],
] as const)("nginx sends %s with %i, the page and the headers of the server", async ([path, status], { server }) => {
  const [copy, own] = await Promise.all([fetch(url + path), fetch(server.url + path)]);
  expect([copy.status, own.status]).toEqual([status, status]);
  for (const name of HEADERS) expect(copy.headers.get(name), name).toBe(own.headers.get(name));
  expect(await copy.text()).toBe(await own.text());
});

test("a page that isn't cached has no file", async () => {
  expect((await fetch(`${url}/example-pages/notes/1`)).status).toBe(404);
});

test("a slash at the end leads to the page, and to no other host", async () => {
  const get = async (path: string) => (await fetch(url + path, { redirect: "manual" })).headers.get("Location");
  expect(await get("/example-pages/about/")).toBe("/example-pages/about");
  expect(await get("//evil.example/")).toBe("/evil.example");
});

test("scripts come with gzip, for ever", async () => {
  const [script] = /\/assets\/[^"]+\.js/.exec(await (await fetch(url)).text()) ?? [];
  const { headers } = await fetch(url + script);
  expect(headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("Content-Encoding")).toBe("gzip");
});

test("the policy allows the page's scripts, and a link fetches the page's data", async ({ page }) => {
  await open(page, `${url}/example-pages/about`);
  const data = page.waitForResponse(`${url}/example-pages/catalogue/1.data`);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/catalogue/1"));
  expect((await data).status()).toBe(200);
  await page.getByRole("heading", { name: "Catalogue 1" }).waitFor();
});
