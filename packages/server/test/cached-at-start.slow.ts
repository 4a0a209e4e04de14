// Pages that are rendered as the server starts, and routes that keep it from starting.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { expect, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { SERVER_ENV, startServer } from "./support/start-server.ts";

const FOLDER = SITE;
const PAGE = "/example-pages/start";

test.for(["GET", "HEAD"])(
  "%s of a page that is rendered at startup has the page's own headers",
  async (method, { server }) => {
    const own = {
      "cache-control": "public, max-age=600, s-maxage=600",
      "x-frame-options": "SAMEORIGIN",
      "x-robots-tag": "noindex",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    };
    const first = await fetch(server.url + PAGE, { method });
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({ ...own, "content-type": "text/html; charset=utf-8" });
    const headers = { "If-None-Match": first.headers.get("ETag") as string };
    const again = await fetch(server.url + PAGE, { method, headers });
    expect(again.status).toBe(304);
    expect(Object.fromEntries(again.headers)).toMatchObject(own);
  },
);

test.for([
  ["adds-header", "app/example-pages/start.tsx: handle.securityHeaders: img-src: self is not a valid source"],
  ["misspells-key", "app/example-pages/start.tsx: handle.securityHeader: "],
  ["has-other-type", "app/example-pages/start.tsx: handle.acceptsCrossOrigin: must be a list of methods, such as"],
  ["has-other-method", "app/example-pages/start.tsx: handle.acceptsCrossOrigin.1: must be POST, PUT, PATCH or DELETE"],
  ["has-no-action", "app/example-pages/start.tsx: handle.acceptsCrossOrigin is only for a route with an action"],
  ["has-other-key", "app/example-pages/start.tsx: handle.cacheKey: /example-pages/about isn't a path of this route"],
  ["has-no-lifetime", "app/example-pages/tag.tsx: handle.cacheKey has no effect unless headers sets s-maxage"],
  ["keeps-layout", "app/example-pages/start-layout.tsx can't set s-maxage"],
] as const)("if a page %s, the startup fails with the name of its file", async ([what, message]) => {
  const env = { ...SERVER_ENV, START: what };
  const start = promisify(execFile)(process.execPath, ["server/index.js"], { cwd: `${FOLDER}/build`, env });
  const { code, stdout, stderr } = await start.catch((error) => error);
  expect(code).toBe(1);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/"level":"fatal"/);
  expect(stdout).toContain(message);
  expect(stdout).not.toContain('"ready"');
});

test.for([
  ["fails", "error", { msg: "page not rendered" }],
  ["sets-cookie", "warn", { reason: "not cacheable: Set-Cookie" }],
  ["reads-cookie", "warn", { reason: expect.stringContaining("reads the request's headers") }],
] as const)("a page that %s at startup logs one line with the level %s", async ([what, level, line]) => {
  const { lines, stop } = await startServer({ START: what }, FOLDER);
  const logged = lines.filter((line) => line.level === level);
  expect(logged).toMatchObject([{ file: "app/example-pages/start.tsx", ...line }]);
  expect(await stop()).toBe(0);
});

test("if <Scripts> renders preloads that the server can't edit, the startup fails with one line", async () => {
  // Outside the site's folder, which other tests copy meanwhile.
  const build = mkdtempSync(join(tmpdir(), "greeting-changed-"));
  cpSync(join(FOLDER, "build"), build, { recursive: true, filter: (path) => !path.endsWith("film.mp4") });
  onTestFinished(() => rmSync(build, { recursive: true }));
  // Instead of a later React Router: the server looks for preloads that this one doesn't render.
  const scripts = readdirSync(join(build, "server"), { recursive: true, encoding: "utf8" });
  const patterns = scripts
    .filter((name) => name.endsWith(".js"))
    .map((name) => {
      const file = join(build, "server", name);
      const parts = readFileSync(file, "utf8").split('rel="modulepreload"[^<>]*');
      writeFileSync(file, parts.join('rel="earlier"[^<>]*'));
      return parts.length - 1;
    });
  expect(patterns.reduce((sum, count) => sum + count)).toBe(1);
  const start = promisify(execFile)(process.execPath, ["server/index.js"], { cwd: build, env: SERVER_ENV });
  const { code, stdout, stderr } = await start.catch((error) => error);
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout.match(/"level":"(?:error|fatal)".*/g)).toEqual([
    expect.stringContaining("the server can't edit the preloads that <Scripts> of this react-router renders"),
  ]);
  expect(stdout).not.toContain('"ready"');
});
