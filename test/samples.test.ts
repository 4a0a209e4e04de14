// What is pasted from a document works: each code sample is a part of a file that other tests build and run.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSamples, withoutSpace } from "./support/samples.ts";

const EXAMPLES = "packages/server/examples";

/** The folders of the files that samples name. */
const FOLDERS = [
  `${EXAMPLES}/sign-in/app`,
  "packages/server/test/site/app/example-pages",
  "packages/server",
  "packages/server/test",
  "test/fixtures",
  "test/fixtures/product",
  "app",
];
/** Adds the samples that name no file to files that every project has, such as tsconfig.json. */
const EDITS = "test/support/grow-product.ts";
const EXCEPTIONS = [
  // These need packages that the project doesn't have.
  'app.all("/auth/*splat", admit, toNodeHandler(',
  // theme-choice.slow.ts adds these.
  '@import "./theme-choice/theme-choice.css";',
  'import { ThemeScript } from "./theme-choice/theme";',
];

function isTried({ file, code }: { file: string | undefined; code: string }) {
  if (EXCEPTIONS.some((exception) => code.startsWith(exception))) return true;
  if (file?.startsWith("product/")) return true; // grown.long.ts compares it with the product.
  const path = file ? FOLDERS.map((folder) => `${folder}/${file}`).find(existsSync) : EDITS;
  return path !== undefined && withoutSpace(readFileSync(path, "utf8")).includes(withoutSpace(code));
}

test("each code sample in the documents is a part of a file that tests build and run", () => {
  // A product with a packed engine hasn't its examples.
  if (!existsSync("packages/server")) return;
  expect(readSamples().filter((sample) => !isTried(sample))).toEqual([]);
});

test("the figures of the engine's README are those of its comparison", () => {
  if (!existsSync("packages/server")) return;
  const read = (file: string) =>
    Array.from(readFileSync(`packages/server/${file}`, "utf8").matchAll(/^\| (.*) \|$/gm), ([, row = ""]) =>
      row.split("|").map((cell) => cell.trim().replace(/ \([\d.]+×\)$/, "")),
    );
  const compared = new Map(read("docs/comparison.md").map(([what, ours, , , theirs]) => [what, [ours, theirs]]));
  const figures = read("README.md").filter(([, ours = ""]) => /^[\d.,]+$/.test(ours));
  expect(figures).toHaveLength(7);
  expect(figures).toEqual(figures.map(([what]) => [what, ...(compared.get(what) ?? [])]));
});

test("the table of examples has each example with its description", () => {
  if (!existsSync(EXAMPLES)) return;
  const rows = readFileSync("docs/growing-up.md", "utf8").matchAll(/^\| `([\w-]+)` +\| (.+?) +\|$/gm);
  const described = readdirSync(EXAMPLES).map((name) => [
    name,
    JSON.parse(readFileSync(`${EXAMPLES}/${name}/package.json`, "utf8")).description,
  ]);
  expect(Object.fromEntries([...rows].map(([, name, text]) => [name, text]))).toMatchObject(
    Object.fromEntries(described),
  );
});
