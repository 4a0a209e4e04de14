import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LEFT_OUT = new Set([".git", ".react-router", "build", "node_modules"]);

/** Builds a copy of the project that has some more pages, each given by its name and its code. Returns the folder. */
export function buildCopyWith(pages: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
  for (const name of readdirSync(".")) {
    if (!LEFT_OUT.has(name)) cpSync(name, join(folder, name), { recursive: true });
  }
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  for (const [name, code] of Object.entries(pages)) writeFileSync(join(folder, `app/routes/${name}.tsx`), code);
  const lines = Object.keys(pages).map((name) => `{ id: "${name}", path: "/${name}", file: "routes/${name}.tsx" },`);
  const routes = readFileSync("app/routes.ts", "utf8");
  writeFileSync(join(folder, "app/routes.ts"), routes.replace("\n];", `\n${lines.join("\n")}\n];`));
  execFileSync("npm", ["run", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}
