// Pages that are rendered once, as the server starts.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inject } from "vitest";
import { expect, test } from "./support/fixtures.ts";
import { SERVER_ENV, startServer } from "./support/start-server.ts";

const FOLDER = inject("grownFolder");
const PAGE = "/example-pages/start";

test.for(["GET", "HEAD"])(
  "%s of a page that is rendered once has the page's own headers",
  async (method, { grownServer }) => {
    const own = {
      "cache-control": "public, max-age=600",
      "x-frame-options": "SAMEORIGIN",
      "x-robots-tag": "noindex",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    };
    const first = await fetch(grownServer.url + PAGE, { method });
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({ ...own, "content-type": "text/html; charset=utf-8" });
    const headers = { "If-None-Match": first.headers.get("ETag") as string };
    const again = await fetch(grownServer.url + PAGE, { method, headers });
    expect(again.status).toBe(304);
    expect(Object.fromEntries(again.headers)).toMatchObject(own);
  },
);

test.for([
  ["fails", /app\/example-pages\/start\.tsx can't be rendered once.*no page without its data/],
  ["sets-cookie", /app\/example-pages\/start\.tsx can't be rendered once \(Set-Cookie\)/],
  ["has-tags", /app\/example-pages\/tag\.tsx can't be rendered once: the pages of \/example-pages\/tags\/:tag differ/],
  ["adds-header", /app\/example-pages\/start\.tsx: handle\.securityHeaders: img-src has no source like self/],
  ["keeps-layout", /app\/example-pages\/start-layout\.tsx can't say s-maxage/],
] as const)("a page that %s ends the start, with the name of its file", async ([what, message]) => {
  const env = { ...SERVER_ENV, START: what };
  const start = promisify(execFile)(process.execPath, ["server/index.js"], { cwd: `${FOLDER}/build`, env });
  const { code, stdout, stderr } = await start.catch((error) => error);
  expect(code).toBe(1);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/"level":"fatal"/);
  expect(stdout).toMatch(message);
  expect(stdout).not.toContain('"ready"');
});

test("a layout that reads a cookie, around a page that is rendered once, is one line at start", async ({
  grownServer,
}) => {
  const warnings = ({ lines }: typeof grownServer) => lines.filter(({ level }) => level === "warn");
  const reading = await startServer({ START: "reads-cookie" }, FOLDER);
  expect(warnings(reading)).toMatchObject([{ file: "app/example-pages/start.tsx" }]);
  expect(await reading.stop()).toBe(0);
  const silent = await startServer({}, FOLDER);
  expect(warnings(silent)).toEqual([]);
  expect(await silent.stop()).toBe(0);
});
