// `node tools/run.js biome check` runs a program of this folder's packages, and installs these if the lockfile has changed.
// `node tools/run.js docs/vitepress build` runs one of the packages of `docs/`.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const [program = "", ...args] = process.argv.slice(2);
const FOLDER = join(import.meta.dirname, dirname(program));
const LOCKFILE = join(FOLDER, "package-lock.json");
/** A copy of the lockfile of the last installation. */
const INSTALLED = join(FOLDER, "node_modules/installed.json");

const read = (file) => existsSync(file) && readFileSync(file, "utf8");

/** Exits if the command fails. */
function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

if (read(INSTALLED) !== read(LOCKFILE)) {
  run("npm", ["ci", "--no-audit", "--no-fund"], FOLDER);
  copyFileSync(LOCKFILE, INSTALLED);
}
if (program) run(join(FOLDER, "node_modules/.bin", basename(program)), args);
