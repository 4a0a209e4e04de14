import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyPackages } from "./copy-packages.ts";

test("files of the machine that a package reads aren't looked for at build time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "packages-"));
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  for (const path of ["build/server", "machine/units", "node_modules/used"]) mkdirSync(path, { recursive: true });
  symlinkSync("missing.js", "machine/units/link.js");
  writeFileSync("node_modules/used/index.js", "export {};\n");
  writeFileSync(
    "build/server/index.js",
    `import "used"; import { readFileSync } from "node:fs"; readFileSync("${folder}/machine/units/" + process.argv[2]);\n`,
  );
  await copyPackages(["used"]);
  expect(existsSync("build/node_modules/used/index.js")).toBe(true);
});
