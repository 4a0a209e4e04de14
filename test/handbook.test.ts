import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Removes the indentation, which excerpts don't have. */
const dedent = (text: string) => text.replaceAll(/^ +/gm, "");

const PAGES = ["app", "docs", "server"]
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`))
  .filter((name) => name.endsWith(".md"));
/** The code blocks whose first line names their file. */
const EXCERPTS = PAGES.flatMap((page) => {
  const blocks = readFileSync(page, "utf8").matchAll(/```tsx?\n\/\/ (\S+)\n(.*?)```/gs);
  return [...blocks].map(([, file = "", code = ""]) => ({ page, file, code }));
});

test.each(EXCERPTS)("the code in $page is an excerpt from $file", ({ file, code }) => {
  const folders = ["test/fixtures/example-pages", "test/fixtures", "app", "."];
  const path = folders.map((folder) => `${folder}/${file}`).find(existsSync);
  expect(dedent(readFileSync(path ?? `no file ${file}`, "utf8"))).toContain(dedent(code));
});

test("docs/life-of-a-request.svg shows the middleware of the table in CONTRIBUTING, and each has a file", () => {
  const picture = readFileSync("docs/life-of-a-request.svg", "utf8");
  const pictured = [...picture.matchAll(/class="name"[^>]*>([^<]+)</g)].map(([, name]) => name);
  const [, section = ""] = readFileSync("CONTRIBUTING.md", "utf8").split(/^## /m);
  const [table = ""] = section.split("\n\n`server.ts`");
  const told = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name);
  expect(told).toEqual([...pictured, "error-handler"]);
  for (const name of told) expect(existsSync(`server/middleware/${name}.ts`), name).toBe(true);
});
