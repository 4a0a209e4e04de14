import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { composeNames } from "./compose-names.ts";

const DECOMPOSED = "zoe\u0308";
const COMPOSED = "zo\u00eb";

test("files with decomposed letters in their names, and in those of their folders, get composed ones", async () => {
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, DECOMPOSED));
  for (const name of ["a.txt", `${DECOMPOSED}.txt`, `${DECOMPOSED}/${DECOMPOSED}.txt`]) {
    writeFileSync(join(folder, name), name);
  }
  await composeNames(folder);
  const files = [`${COMPOSED}.txt`, `${COMPOSED}/${COMPOSED}.txt`, "a.txt"];
  expect(readdirSync(folder, { recursive: true })).toEqual(expect.arrayContaining(files));
  expect(files.map((name) => readFileSync(join(folder, name), "utf8").normalize())).toEqual(files);
});
