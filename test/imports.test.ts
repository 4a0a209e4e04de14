// Two rooms with one door: the site imports only what the engine exports.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";

const SITE = ["app", "deploy", "docs", "services", "test"].filter(existsSync);
const DOOR = /^react-router-express-server(\/(app|postgres|purge|redis|testing|tracing|vite))?$/;

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[jt]sx?$/.test(name))
    .map((name) => `${folder}/${name}`);

function findImports(file: string) {
  const source = readFileSync(file, "utf8");
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const importers = [...staticImports, ...staticExports.flatMap(({ entries }) => entries), ...dynamicImports];
  return importers.flatMap(({ moduleRequest: it }) => (it ? source.slice(it.start + 1, it.end - 1) : []));
}

/** The path of a relative import from the project's root. */
const toPath = (file: string, name: string) => relative(".", join(file, "..", name));

test("the site reaches the engine by its exports only", () => {
  const files = ["server.ts", "vite.config.ts", "react-router.config.ts", ...SITE.flatMap(listFiles)];
  const isAround = (file: string, name: string) =>
    name.startsWith(".")
      ? toPath(file, name).startsWith("packages/")
      : /^react-router-express-server\b/.test(name) && !DOOR.test(name);
  const around = files.flatMap((file) =>
    findImports(file)
      .filter((name) => isAround(file, name))
      .map((name) => ({ file, name })),
  );
  expect(around).toEqual([]);
});

test("the site's type check leaves the engine's tests out", () => {
  const config = execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "--showConfig"], {
    encoding: "utf8",
  });
  const { files } = JSON.parse(config);
  expect(files).toContain("./server.ts");
  expect(files.filter((file: string) => file.startsWith("./packages/"))).toEqual([]);
});
