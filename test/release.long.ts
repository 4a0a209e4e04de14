// A release replaces another, while tabs are open and a cache has the pages of the one before.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { build, copyAndGrow } from "./support/copy-project.ts";
import { expect, open, test } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { startServer } from "./support/start-server.ts";

const listAssets = (folder: string) => readdirSync(`${folder}/build/client/assets`);
const findScripts = (html: string) => [...html.matchAll(/\/assets\/[^"]+\.js/g)].map(([path]) => path);

test("a cached page of the last release finds its scripts, and links of an open tab work", async ({ page }) => {
  const folder = copyAndGrow();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await build(folder, { PREVIOUS_BUILD: `${process.cwd()}/build` });
  const [before, after] = [listAssets("."), listAssets(folder)];
  expect(after).toEqual(expect.arrayContaining(before));
  expect(JSON.parse(readFileSync(`${folder}/build/assets.json`, "utf8"))[1]).toEqual(before);

  const old = await startServer();
  const { port, host } = new URL(old.url);
  const nginx = await startNginx("", `proxy_pass http://${host}; proxy_cache cache; proxy_cache_background_update on;`);
  onTestFinished(nginx.stop);
  // As Chromium asks, since the page varies with it.
  const headers = { "Accept-Encoding": "gzip, deflate, br, zstd" };
  const html = await (await fetch(nginx.url, { headers })).text();
  await old.stop();
  const current = await startServer({ PORT: port }, folder);
  expect(await (await fetch(current.url, { headers })).text()).not.toBe(html);

  const requested: string[] = [];
  page.on("requestfinished", (request) => requested.push(new URL(request.url()).pathname));
  const response = await open(page, nginx.url);
  expect(await response?.text()).toBe(html);
  expect(requested).toEqual(expect.arrayContaining(findScripts(html)));
  await current.stop();
});

test("assets of two earlier releases are kept, and none that would make more than 8 MiB", async () => {
  const previous = mkdtempSync(join(tmpdir(), "previous-"));
  const folder = copyAndGrow();
  for (const made of [previous, folder]) onTestFinished(() => rmSync(made, { recursive: true }));
  mkdirSync(`${previous}/client/assets`, { recursive: true });
  const sizes = { "one-a.js": 4, "one-b.js": 4, "two-a.js": 3, "three-a.js": 1 };
  const write = (megabytes: number) => {
    for (const [name, size] of Object.entries(sizes)) {
      writeFileSync(`${previous}/client/assets/${name}`, "a".repeat(size * megabytes));
    }
  };
  writeFileSync(`${previous}/assets.json`, JSON.stringify([["one-a.js", "one-b.js"], ["two-a.js"], ["three-a.js"]]));
  const buildAndList = async () => {
    await build(folder, { PREVIOUS_BUILD: previous });
    return listAssets(folder).filter((name) => name in sizes);
  };
  write(1000);
  expect(await buildAndList()).toEqual(["one-a.js", "one-b.js", "two-a.js"]);
  write(1_000_000);
  expect(await buildAndList()).toEqual(["one-a.js", "one-b.js"]);
  write(2_000_000);
  expect(await buildAndList()).toEqual([]);
});
