// An update replaces the engine's documents. The documents and the manifests of the site link to their sections.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ENGINE = "packages/server";
const FOLDERS = ["app", "deploy", "docs", `${ENGINE}/docs`, `${ENGINE}/src`];
const FILES = [
  ...["AGENTS.md", "CONTRIBUTING.md", "README.md", `${ENGINE}/README.md`],
  ...FOLDERS.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  ),
].filter((name) => /\.(md|yaml)$/.test(name));

/** The links of a file to the engine's documents, by path from the project's folder. A manifest has such paths. */
function listLinks(file: string) {
  const text = readFileSync(file, "utf8");
  const isDocument = file.endsWith(".md");
  const links = [
    ...text.matchAll(isDocument ? /\]\((?!\w+:)([^)\s]*)\)/g : /(packages\/server\/[\w./-]+\.md(?:#[\w-]+)?)/g),
  ];
  return links
    .map(([, link = ""]) => (!isDocument ? link : link.startsWith("#") ? file + link : join(dirname(file), link)))
    .filter((link) => link.startsWith(ENGINE));
}

/** Whether the file exists, and has the heading, by GitHub's rules. */
function isFound(link: string) {
  const [path = "", anchor] = link.split("#");
  if (!existsSync(path)) return false;
  const headings = anchor ? (readFileSync(path, "utf8").match(/(?<=^#+ ).*/gm) ?? []) : [];
  const anchors = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  return !anchor || anchors.includes(anchor);
}

test("each link to a document of the engine leads to a file and a heading", () => {
  if (!existsSync(ENGINE)) return; // A product may have a packed engine.
  const links = FILES.flatMap((file) => listLinks(file).map((link) => ({ file, link })));
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ link }) => !isFound(link))).toEqual([]);
});
