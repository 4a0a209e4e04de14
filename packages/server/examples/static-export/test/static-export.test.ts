import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { beforeAll } from "vitest";
import { expect, test } from "./support/fixtures.ts";

const FOLDER = "build/static";
const read = (path: string) => readFileSync(`${FOLDER}/${path}`, "utf8");
/** Of the start page: / or such as /app/. */
const toBasePath = (url: string) => new URL(`${url}/`).pathname;
let output: string;

beforeAll(() => {
  const env = { ...parseEnv(readFileSync(".env.example", "utf8")), ...process.env };
  output = execFileSync(process.execPath, ["static-export.js", "/nowhere"], { env, encoding: "utf8" });
});

test("a cached page is a file, as the server sends it", async ({ server }) => {
  const path = toBasePath(server.url);
  expect(output).toContain(`wrote    ${path}\n`);
  expect(read(`files${path}index.html`)).toBe(await (await fetch(server.url)).text());
});

test("nginx gets the headers of a page, with its policy", async ({ server }) => {
  const { headers } = await fetch(server.url);
  const start = `location = "${toBasePath(server.url)}" {\n`;
  const block = read("pages.conf")
    .split(/^\}\n/m)
    .find((text) => text.includes(start));
  for (const name of ["content-security-policy", "x-content-type-options", "cache-control"]) {
    expect(block).toContain(`add_header ${name} ${JSON.stringify(headers.get(name))} always;`);
  }
  expect(block).not.toMatch(/add_header (etag|date|age|cache-status) /);
});

test("the not-found page is a file, and an unknown page is none", () => {
  expect(read("files/404.html")).toContain("<title>Page not found</title>");
  expect(read("pages.conf")).toContain("error_page 404 /404.html;");
  expect(existsSync(`${FOLDER}/files/nowhere.html`)).toBe(false);
});

test("the scripts of a page are there, too", ({ server }) => {
  const html = read(`files${toBasePath(server.url)}index.html`);
  const scripts = [...html.matchAll(/"(\/[^"]*assets\/[^"]+\.js)"/g)].map(([, path]) => path);
  expect(scripts.length).toBeGreaterThan(0);
  for (const path of scripts) expect(existsSync(`${FOLDER}/files${path}`), path).toBe(true);
});
