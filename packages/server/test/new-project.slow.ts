// Other applications than the project's, in copies of the site.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { exchange } from "./support/exchange.ts";
import { startServer } from "./support/start-server.ts";

/** Builds a copy of the site with other files. Returns its folder. */
async function buildWith(from: string, to: string) {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(fileURLToPath(new URL(from, import.meta.url)), `${folder}/${to}`, { recursive: true });
  await build(folder);
  return folder;
}

/** Sends requests for every kind of response. Without the page cache, `cacheStatus` is undefined. */
async function expectSite(folder: string, env: Record<string, string>, cacheStatus?: unknown) {
  const { url, lines, stop } = await startServer(env, folder);
  for (const [path, status, expected] of [
    ["/robots.txt", 200, undefined],
    ["/", 200, cacheStatus],
    ["/nowhere", 404, cacheStatus],
    ["/example-pages/table", 200, undefined],
    ["/example-pages/broken/loader", 500, undefined],
  ] as const) {
    const { headers, ...response } = await request(url).get(path).set("Accept-Encoding", "gzip");
    expect([path, response.status, headers["cache-status"]]).toEqual([path, status, expected]);
    // Without the page cache, a page is rendered with the client's cookies.
    const isShared = path === "/robots.txt" || headers["cache-status"] !== undefined;
    expect([path, headers["cache-control"]]).toEqual([
      path,
      expect.stringMatching(isShared ? /^public/ : /^private|^no-store/),
    ]);
    if (path.endsWith("table")) expect(headers["content-encoding"]).toBe("gzip");
  }
  // A compression sends each event on.
  const events = (await fetch(`${url}/example-pages/ticks`)).body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await events?.read())?.value).toContain("data: ");
  await events?.cancel();
  const report = request(url).post("/browser-reports").type("application/reports+json").send("[]");
  expect((await report).status).toBe(204);
  // A method that Fetch's Request can't have, and a path that the URL parser would change.
  for (const [line, status] of [
    ["TRACE /example-pages/table", 405],
    ["GET /x/../example-pages/table", 404],
    ["GET /assets/missing.js", 404],
  ]) {
    const { responses } = await exchange(url, `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([line, responses[0]?.status]).toEqual([line, status]);
  }
  expect(await stop()).toBe(0);
  expect(lines.filter(({ level }) => level === "fatal")).toEqual([]);
}

const HIT = expect.stringContaining("; hit");

test("a server of the parts alone (README.md) sends files, pages, compressed pages and errors", async () => {
  await expectSite(await buildWith("../start", "."), {}, HIT);
});

test("so does one without a part, or with a package in its place", async () => {
  const folder = await buildWith("./new-project/swapped.ts", "server.ts");
  for (const [swapped, cacheStatus] of [
    ["files", HIT], // express.static
    ["pageCache", undefined], // none
    ["compress", HIT], // compression
  ] as const)
    await expectSite(folder, { SWAPPED: swapped }, cacheStatus);
});
