import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyPackages } from "./copy-packages.ts";

/** Makes a new folder the working directory of the test. */
function enterFolder(...folders: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "packages-"));
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  for (const path of ["build/server", "node_modules/used", ...folders]) mkdirSync(path, { recursive: true });
  return folder;
}

test("files of the machine that a package reads aren't looked for at build time", async () => {
  const folder = enterFolder("machine/units");
  symlinkSync("missing.js", "machine/units/link.js");
  writeFileSync("node_modules/used/index.js", "export {};\n");
  writeFileSync(
    "build/server/index.js",
    `import "used"; import { readFileSync } from "node:fs"; readFileSync("${folder}/machine/units/" + process.argv[2]);\n`,
  );
  await copyPackages(["used"]);
  expect(existsSync("build/node_modules/used/index.js")).toBe(true);
});

test("the file that Node reads by the condition module-sync is copied", async () => {
  enterFolder();
  const exports = { ".": [{ "module-sync": "./sync.mjs", default: "./index.js" }, "./index.js"] };
  writeFileSync("node_modules/used/package.json", JSON.stringify({ name: "used", exports }));
  for (const file of ["sync.mjs", "index.js"]) writeFileSync(`node_modules/used/${file}`, "");
  writeFileSync("build/server/index.js", 'require("used");\n');
  await copyPackages(["used"]);
  expect(existsSync("build/node_modules/used/sync.mjs")).toBe(true);
});
