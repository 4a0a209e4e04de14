import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const LEFT_OUT = new Set([".env", ".git", ".react-router", "bench", "build", "docs", "node_modules", "test"]);

/** The size of `/film.mp4`, a large file of the copy with the example pages: it repeats "0123456789". */
export const FILM_BYTES = 50 * 1024 * 1024;

/** Copies the project, as it is here and without its tests, to a new folder. */
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

/** Copies the project, and adds the example pages of test/fixtures to it, and the film. */
export function copyAndGrow() {
  const folder = copyProject();
  cpSync("test/fixtures/services.ts", join(folder, "server/services.ts"));
  cpSync("test/fixtures/example-pages", join(folder, "app/example-pages"), { recursive: true });
  const routes = readFileSync("app/routes.ts", "utf8").replace("[\n", "[\n  ...examplePages,\n");
  const line = 'import { examplePages } from "./example-pages/routes";\n';
  writeFileSync(join(folder, "app/routes.ts"), line + routes);
  const config = readFileSync("vite.config.ts", "utf8").replace("string[] = []", 'string[] = ["@node-rs/argon2"]');
  writeFileSync(join(folder, "vite.config.ts"), config);
  writeFileSync(join(folder, "public/film.mp4"), Buffer.alloc(FILM_BYTES, "0123456789"));
  return folder;
}

/** Makes a production build. Rejects with what the build wrote when it fails. */
export async function build(folder: string) {
  await promisify(execFile)("npm", ["run", "build"], { cwd: folder });
}
