// Other applications than the project's, in copies of the site.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { startServer } from "./support/start-server.ts";

/** Builds a copy of the site with other files, and starts it. */
async function startWith(from: string, to: string) {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(fileURLToPath(new URL(from, import.meta.url)), `${folder}/${to}`, { recursive: true });
  await build(folder);
  return startServer({}, folder);
}

const hit = expect.stringContaining("; hit");

test.each([
  { label: "the parts alone (README.md)", from: "../start", to: ".", cacheStatus: hit },
  {
    label: "no page cache, and the package compression",
    from: "./new-project/swapped.ts",
    to: "server.ts",
    cacheStatus: undefined,
  },
])("a server of $label sends files, pages, compressed pages and errors", async ({ from, to, cacheStatus }) => {
  const { url, lines, stop } = await startWith(from, to);
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
  const report = request(url).post("/browser-reports").type("application/reports+json").send("[]");
  expect((await report).status).toBe(204);
  expect(await stop()).toBe(0);
  expect(lines.filter(({ level }) => level === "fatal")).toEqual([]);
});
