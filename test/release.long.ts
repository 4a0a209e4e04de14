// A cache may have pages of a release that is gone, and their visitors ask for its scripts.
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { startServer } from "./support/start-server.ts";

const RELEASES = [".", inject("grownFolder")] as const;

const listAssets = (release: string) => readdirSync(`${release}/build/client/assets`);
const findScripts = (html: string) => [...html.matchAll(/\/assets\/[^"]+\.js/g)].map(([path]) => path);

test("a page of a release that is gone works, with a store of each release's assets in front", async ({ page }) => {
  const store = mkdtempSync(join(tmpdir(), "store-"));
  onTestFinished(() => rmSync(store, { recursive: true }));
  for (const release of RELEASES) cpSync(`${release}/build/client/assets`, `${store}/assets`, { recursive: true });
  const [before, after] = RELEASES.map(listAssets);
  expect(before?.filter((name) => !after?.includes(name))).not.toEqual([]);

  const old = await startServer();
  const { port, host } = new URL(old.url);
  const nginx = await startNginx(
    "types { text/javascript js; text/css css; }",
    `proxy_pass http://${host}; proxy_cache cache; proxy_cache_background_update on;
    location /assets/ { root ${store}; }`,
  );
  onTestFinished(nginx.stop);
  // As Chromium asks, since the page varies with it.
  const headers = { "Accept-Encoding": "gzip, deflate, br, zstd" };
  const html = await (await fetch(nginx.url, { headers })).text();
  await old.stop();
  const current = await startServer({ PORT: port }, RELEASES[1]);
  const statuses = await Promise.all(findScripts(html).map(async (path) => (await fetch(current.url + path)).status));
  expect(statuses).toContain(404);

  const requested: string[] = [];
  page.on("requestfinished", (request) => requested.push(new URL(request.url()).pathname));
  const response = await open(page, nginx.url);
  expect(await response?.text()).toBe(html);
  expect(requested).toEqual(expect.arrayContaining(findScripts(html)));
  await current.stop();
});
