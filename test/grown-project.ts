import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LEFT_OUT = new Set([".git", ".react-router", "build", "node_modules", "test"]);

/** Copies the project and adds the pages of test/growth to it: files in app/, and lines in app/routes.ts. */
export function copyAndGrow() {
  const folder = mkdtempSync(join(tmpdir(), "growth-"));
  for (const name of readdirSync(".")) {
    if (!LEFT_OUT.has(name)) cpSync(name, join(folder, name), { recursive: true });
  }
  // Each package is a link, so that the folder around them, where Vite keeps its cache, is the copy's own.
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync("node_modules")) {
    if (name !== ".vite") symlinkSync(join(process.cwd(), "node_modules", name), join(folder, "node_modules", name));
  }

  const routes = readFileSync("app/routes.ts", "utf8");
  const [, lines] = /\[\n(.*)\n\]/s.exec(readFileSync("test/growth/routes.ts", "utf8")) as unknown as [string, string];
  cpSync("test/growth", join(folder, "app"), { recursive: true });
  writeFileSync(
    join(folder, "app/routes.ts"),
    routes.replace(/(?=\n\];)/, () => `\n${lines}`),
  );
  return folder;
}

/** The grown project as it ships. */
export function buildGrownProject() {
  const folder = copyAndGrow();
  execFileSync("npm", ["run", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}
