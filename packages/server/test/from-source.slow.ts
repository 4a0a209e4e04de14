import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ENGINE = fileURLToPath(new URL("..", import.meta.url));
const NODE_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** Copies the engine's sources, as a clone has them. */
function copyEngine() {
  const folder = mkdtempSync(join(tmpdir(), "engine-"));
  for (const name of ["package.json", "src"]) cpSync(join(ENGINE, name), join(folder, name), { recursive: true });
  symlinkSync(NODE_MODULES, join(folder, "node_modules"));
  return folder;
}

/** Imports what a site's vite.config.ts imports, in a new process. Returns what it logs. */
const load = (folder: string) =>
  execFileSync(process.execPath, ["--input-type=module", "-e", 'import "./src/vite/from-source.js";'], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });

const listTimes = (folder: string) =>
  readdirSync(join(folder, "dist"), { recursive: true, encoding: "utf8" }).map((name) => [
    name,
    statSync(join(folder, "dist", name)).mtimeMs,
  ]);

test("the engine's JavaScript is written once, and again after a change of its sources", () => {
  const folder = copyEngine();
  load(folder);
  const times = listTimes(folder);
  load(folder);
  expect(listTimes(folder)).toEqual(times);

  writeFileSync(join(folder, "src/vite/edited.ts"), 'export const edited = "new" satisfies string;\n');
  appendFileSync(join(folder, "src/vite/plugin.ts"), 'import { edited } from "./edited.ts";\nconsole.log(edited);\n');
  expect(load(folder)).toBe("new\n");
  writeFileSync(join(folder, "src/vite/edited.ts"), 'export const edited = "edited" satisfies string;\n');
  expect(load(folder)).toBe("edited\n");
});
