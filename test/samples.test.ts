// What is pasted from a document works: each code sample is a part of a file that other tests build and run.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The folders of the files that samples name in their first line. */
const FOLDERS = [
  "packages/server/test/site/app/example-pages",
  "packages/server/test",
  "test/fixtures",
  "test/fixtures/product",
  "app",
];
/** Adds the samples that name no file to files that every project has, such as tsconfig.json. */
const EDITS = "test/support/grow-product.ts";
const EXCEPTIONS = [
  // A product's own server.ts has more lines.
  "// server.ts\nconst app = createExpress();",
  // These need packages that the project doesn't have.
  'app.all("/auth/*splat", toNodeHandler(',
  'app.use("/shop", createProxyMiddleware(',
];

/** Without the indentation, since samples begin at the margin. */
const readLines = (file: string) => readFileSync(file, "utf8").replaceAll(/^ +/gm, "");

const listDocuments = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);

function readSamples(document: string) {
  const samples = readLines(document).matchAll(/^```(?!sh\n)\w*\n(.*?)^```/gms);
  return [...samples].map(([, sample = ""]) => ({ document, sample }));
}

function isTried(sample: string) {
  if (EXCEPTIONS.some((exception) => sample.startsWith(exception))) return true;
  const [, name, code] = /^\/\/ (\S+\.\w+)\n(.*)/s.exec(sample) ?? [];
  const paths = name ? FOLDERS.map((folder) => `${folder}/${name}`) : [EDITS];
  const path = paths.find(existsSync);
  return path !== undefined && readLines(path).includes((code ?? sample).trimEnd());
}

test("each code sample in the documents is a part of a file that tests build and run", () => {
  // A product with a packed engine hasn't its examples.
  if (!existsSync("packages/server")) return;
  const documents = ["README.md", "CONTRIBUTING.md", ...["app", "docs", "packages/server/docs"].flatMap(listDocuments)];
  const samples = [...documents, "packages/server/README.md"].flatMap(readSamples);
  expect(samples.filter(({ sample }) => !isTried(sample))).toEqual([]);
});
