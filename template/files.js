import { execSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Their names are printed at the end. */
export const removed = [];
export const changed = new Set();

/** The paths of the files in a folder, if it exists. */
export function listFiles(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
}

export function removeFolder(folder) {
  removed.push(...listFiles(folder));
  rmSync(folder, { recursive: true });
}

/** Removes those of the files that exist. */
export function removeFiles(files) {
  for (const file of files.filter((file) => existsSync(file))) {
    rmSync(file);
    removed.push(file);
  }
}

/** Replaces the parts of a file that match, if the file exists. Returns whether there were any. */
export function replace(file, parts, replacement) {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const replaced = text.replace(parts, replacement);
  if (replaced === text) return false;
  writeFileSync(file, replaced);
  changed.add(file);
  return true;
}

/** Removes packages from the project's manifest, if any of them is there. */
export function uninstall(packages) {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const installed = packages.filter((name) => name in { ...dependencies, ...devDependencies });
  if (installed.length === 0) return;
  execSync(`npm uninstall --no-audit --no-fund ${installed.join(" ")}`, { stdio: "pipe" });
  for (const file of ["package.json", "package-lock.json"]) changed.add(file);
}

/** Removes a script that nobody needs any more, with its test. The last script takes the folder with it. */
export function removeScript(name) {
  replace("package.json", new RegExp(` *"${name}": .*\n`), "");
  removeFiles([`template/${name}.js`, `test/${name}.long.ts`]);
  if (listFiles("template").length === 1) removeFolder("template");
}

/** Formats the changed files, and prints the names of all. */
export function finish() {
  execSync(`node tools/run.js biome format --write --files-ignore-unknown=true ${[...changed].join(" ")}`, {
    stdio: "pipe",
  });
  for (const file of removed) console.log(`removed ${file}`);
  for (const file of changed) console.log(`changed ${file}`);
}
