import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LEFT_OUT = new Set([".git", ".react-router", "build", "node_modules"]);

/** Copies the project, as it is here, to a new folder. */
export function copyProject() {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
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
  return folder;
}

/** Copies the project, and adds the pages of test/fixtures to it: files in app/, and lines in app/routes.ts. */
export function copyAndGrow() {
  const folder = copyProject();
  cpSync("test/fixtures", join(folder, "app"), { recursive: true });
  const [, lines = ""] = /\[\n(.*)\n\]/s.exec(readFileSync("test/fixtures/routes.ts", "utf8")) ?? [];
  addRoutes(folder, lines);
  return folder;
}

/** Copies the project, and adds pages that are given by their name and their code. */
export function copyWithPages(pages: Record<string, string>) {
  const folder = copyProject();
  for (const [name, code] of Object.entries(pages)) writeFileSync(join(folder, `app/routes/${name}.tsx`), code);
  const lines = Object.keys(pages).map((name) => `{ id: "${name}", path: "/${name}", file: "routes/${name}.tsx" },`);
  addRoutes(folder, lines.join("\n"));
  return folder;
}

function addRoutes(folder: string, lines: string) {
  const routes = readFileSync("app/routes.ts", "utf8");
  writeFileSync(join(folder, "app/routes.ts"), routes.replace("\n];", `\n${lines}\n];`));
}

export function build(folder: string) {
  execFileSync("npm", ["run", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
