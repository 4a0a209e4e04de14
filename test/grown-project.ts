import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LEFT_OUT = new Set([".git", ".react-router", "build", "node_modules"]);

/** Copies the project and adds the pages of test/growth to it: files in app/, and lines in app/routes.ts. */
export function copyAndGrow() {
  const folder = mkdtempSync(join(tmpdir(), "growth-"));
  for (const name of readdirSync(".")) {
    if (!LEFT_OUT.has(name)) cpSync(name, join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, "node_modules"));
  // Packages are links, so that the folder around them, where Vite keeps its cache, is the copy's own; but in
  // development Vite serves the framework's entry, and it serves no file from outside the project.
  for (const name of readdirSync("node_modules")) {
    const [from, to] = [join(process.cwd(), "node_modules", name), join(folder, "node_modules", name)];
    if (name === "@react-router") cpSync(from, to, { recursive: true });
    else if (name !== ".vite") symlinkSync(from, to);
  }

  const routes = readFileSync("app/routes.ts", "utf8");
  const lines = /\[\n(.*)\n\]/s.exec(readFileSync("test/growth/routes.ts", "utf8"))?.[1];
  cpSync("test/growth", join(folder, "app"), { recursive: true });
  writeFileSync(join(folder, "app/routes.ts"), routes.replace(/\n\];/, `\n${lines}\n];`));
  return folder;
}

export function build(folder: string) {
  execFileSync("npm", ["run", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
