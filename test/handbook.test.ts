import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The text without its indentation, which an excerpt has not. */
const dedent = (text: string) => text.replaceAll(/^ +/gm, "");

const README = readFileSync("README.md", "utf8");
const PAGES = readdirSync("docs").filter((name) => name.endsWith(".md"));

test.each(PAGES)("the code of docs/%s is that of the example pages, which tests try", (name) => {
  const blocks = readFileSync(`docs/${name}`, "utf8").matchAll(/```tsx?\n\/\/ (\S+)\n(.*?)```/gs);
  const code = [...blocks].map(([, file, code = ""]) => ({ file, code }));
  expect(code.length).toBeGreaterThan(0);
  for (const { file, code: excerpt } of code) {
    const path = ["test/fixtures/example-pages", "test/fixtures"].map((folder) => `${folder}/${file}`).find(existsSync);
    expect(dedent(readFileSync(path ?? `no fixture ${file}`, "utf8"))).toContain(dedent(excerpt));
  }
});

test.each(PAGES)("README has a link to docs/%s", (name) => {
  expect(README).toContain(`](docs/${name})`);
});
