// Edits behind a real Varnish with deploy/varnish.vcl, and behind a real nginx (docs/caching.md).
import { readFileSync, rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findFreePort } from "react-router-express-server/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildWithRoutes } from "./support/build-with-routes.ts";
import { startNginx } from "./support/nginx.ts";
import { readMetric } from "./support/process-metrics.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";
import { startVarnish } from "./support/varnish.ts";

const FOLDER = fileURLToPath(new URL("edge", import.meta.url));
/** Each render differs. */
const stamp = (lifetimes: string) => `
export const headers = () => ({ ${lifetimes}, "Cache-Groups": '"stamps", "a, b"' });
export const loader = () => new Response(crypto.randomUUID());
export const action = () => new Response("edited");
`;
const ROUTES = {
  "/long/:id": stamp(`"Cache-Control": "public, s-maxage=86400"`),
  "/edge/:id": stamp(`"Cache-Control": "public, s-maxage=1", "CDN-Cache-Control": "max-age=86400"`),
  "/other/:id": stamp(`"Cache-Control": "public, s-maxage=86400"`).replace('"stamps", "a, b"', '"stamps-of-others"'),
};
const BUILD_TIMEOUT_MS = 300_000;

let folder: string;

beforeAll(async () => {
  folder = await buildWithRoutes(`${FOLDER}/server.ts`, ROUTES);
}, BUILD_TIMEOUT_MS);

afterAll(() => folder && rmSync(folder, { recursive: true }));

const read = async (origin: string, path: string) => (await fetch(origin + path)).text();

async function purge({ opsUrl }: RunningServer, query: string) {
  const response = await fetch(`${opsUrl}/cache/invalidate?${query}`, { method: "POST" });
  return response.json();
}

/** Starts Varnish in front of a server, which purges it. */
async function startBehindVarnish() {
  const port = await findFreePort();
  const server = await startServer({ VARNISH_URLS: `http://127.0.0.1:${port}` }, folder);
  const start = () => startVarnish(port, server.url);
  const varnish = await start();
  onTestFinished(async () => void (await server.stop()));
  return { server, varnish, start };
}

test.each([
  ["group=stamps", "/long/1"],
  ["group=a%2C+b", "/long/1"],
  ["path=/long/1", "/long/1?page=2"],
  ["prefix=/long/", "/LONG/1"],
  ["all", "/long/1"],
])("behind Varnish, an operator's purge of %s shows %s at once, and no user gets tags", async (query, path) => {
  const { server, varnish } = await startBehindVarnish();
  onTestFinished(varnish.stop);
  const before = await read(varnish.url, path);
  await read(varnish.url, "/other/1");
  expect(await read(varnish.url, path)).toBe(before);
  expect((await fetch(varnish.url + path)).headers.get("xkey")).toBe(null);
  expect((await fetch(server.url + path)).headers.get("xkey")).toMatch(/^test-site \/long\/1 stamps a%2c%20b$/);
  expect(await purge(server, query)).toMatchObject({ edge: "queued" });
  await expect.poll(() => read(varnish.url, path)).not.toBe(before);
  // X-Varnish has two numbers for a hit. Beside a prefix, all pages are purged, but no group with a similar name.
  const other = await fetch(`${varnish.url}/other/1`);
  expect(other.headers.get("X-Varnish")?.includes(" ")).toBe(!/all|prefix/.test(query));
  expect(await readMetric(server, 'page_cache_purges_total{result="sent"}')).toBe(1);
});

test("behind Varnish, a page with CDN-Cache-Control stays longer than in the server, until a form edits it", async () => {
  const { server, varnish } = await startBehindVarnish();
  onTestFinished(varnish.stop);
  const [inFront, own] = [await read(varnish.url, "/edge/1"), await read(server.url, "/edge/1")];
  await expect.poll(() => read(server.url, "/edge/1")).not.toBe(own);
  await setTimeout(2000); // Longer than Cache-Control allows.
  expect(await read(varnish.url, "/edge/1")).toBe(inFront);
  expect((await fetch(`${varnish.url}/edge/1`, { method: "POST" })).status).toBe(200);
  await expect.poll(() => read(varnish.url, "/edge/1")).not.toBe(inFront);
});

test("while Varnish is down, an edit succeeds and is measured, and Varnish is purged once it is up", async () => {
  const { server, varnish, start } = await startBehindVarnish();
  await varnish.stop();
  expect(await purge(server, "group=stamps")).toMatchObject({ edge: "queued" });
  await expect.poll(() => readMetric(server, "page_cache_purge_wait_seconds")).toBeGreaterThan(2);
  expect(await purge(server, "group=stamps")).toMatchObject({ edge: "retrying" });
  const again = await start();
  onTestFinished(again.stop);
  await expect.poll(() => readMetric(server, "page_cache_purge_wait_seconds")).toBe(0);
  expect(await readMetric(server, 'page_cache_purges_total{result="sent"}')).toBe(1);
  const messages = server.lines.map(({ msg }) => msg).filter((msg) => msg.startsWith("cache in front"));
  expect(messages).toEqual(["cache in front not purged", "cache in front purged"]);
});

test("behind Varnish, a visitor can't purge by tags", async () => {
  const { server, varnish } = await startBehindVarnish();
  onTestFinished(varnish.stop);
  const before = await read(varnish.url, "/long/1");
  const ban = async (headers: Record<string, string>) => (await fetch(varnish.url, { method: "BAN", headers })).status;
  expect(await ban({ xkey: "stamps", "X-Forwarded-Proto": "https" })).toBe(405);
  expect(await ban({ xkey: "stamps) && obj.status != 0" })).toBe(400);
  expect(await ban({})).toBe(400);
  expect(await read(varnish.url, "/long/1")).toBe(before);
  expect(await purge(server, "group=none")).toMatchObject({ edge: "queued" });
});

test("behind nginx, a purge of a path shows the page at once, and other pages stay", async () => {
  const port = await findFreePort();
  const server = await startServer({ NGINX_URLS: `http://127.0.0.1:${port}` }, folder);
  const config = readFileSync(`${FOLDER}/nginx.conf`, "utf8")
    .replace("http://web", server.url)
    .replace("proxy_cache pages", "proxy_cache cache");
  const [http = "", location = ""] = config.replace(/\}\s*$/, "").split("location / {");
  const nginx = await startNginx(http, location, port);
  onTestFinished(async () => {
    await nginx.stop();
    await server.stop();
  });
  const paths = ["/long/%C3%A9", "/long/2"];
  const readAll = () => Promise.all(paths.map((path) => read(nginx.url, path)));
  const [before, other] = await readAll();
  expect(await readAll()).toEqual([before, other]);
  expect(await purge(server, `path=${paths[0]}`)).toMatchObject({ edge: "queued" });
  await expect.poll(async () => (await readAll())[0]).not.toBe(before);
  expect((await readAll())[1]).toBe(other);
});
