// The engine imports nothing of a site: its relative imports stay in src/.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.[jt]sx?$/.test(name));

test.each(FILES)("%s imports nothing of a site", (file) => {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(SRC, file), "utf8"));
  const names = importedFiles.map(({ fileName }) => fileName);
  const isOutside = (name: string) => /^[./]/.test(name) && !join(SRC, file, "..", name).startsWith(`${SRC}/`);
  expect(names.filter(isOutside)).toEqual([]);
});
