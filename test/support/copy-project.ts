import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const NEVER_COPIED = [".env", ".git", ".react-router", "build", "node_modules"];
/** A build and the development server don't need these. */
const TESTS_AND_DOCS = ["bench", "deploy", "docs", "test"];
const TEST_FILE = /\.test\.tsx?$/;

/** The size of `/film.mp4`, a large file of the copy with the example pages: it repeats "0123456789". */
export const FILM_BYTES = 50 * 1024 * 1024;

/** Copies the project to a new folder, with its uncommitted changes. With `withTests`, its tests can run there. */
export function copyProject({ withTests = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
  const leftOut = withTests ? NEVER_COPIED : [...NEVER_COPIED, ...TESTS_AND_DOCS];
  for (const name of readdirSync(".")) {
    const filter = (path: string) => withTests || !TEST_FILE.test(path);
    if (!leftOut.includes(name)) cpSync(name, join(folder, name), { recursive: true, filter });
  }
  mkdirSync(join(folder, "node_modules"));
  // Packages are links, and the folder around them, which has Vite's cache, is the copy's own. In development, Vite serves
  // the framework's entry, so that isn't a link: Vite serves no file from outside the project.
  for (const name of readdirSync("node_modules")) {
    const [from, to] = [join(process.cwd(), "node_modules", name), join(folder, "node_modules", name)];
    if (name === "@react-router") cpSync(from, to, { recursive: true });
    else if (name !== ".vite") symlinkSync(from, to);
  }
  return folder;
}

/** Copies the project, and adds the example pages, their services and the film. */
export function copyAndGrow() {
  const folder = copyProject();
  // It opens the project's own services, too.
  renameSync(join(folder, "server/services.ts"), join(folder, "server/own-services.ts"));
  cpSync("test/fixtures/services.ts", join(folder, "server/services.ts"));
  cpSync("test/fixtures/example-pages", join(folder, "app/example-pages"), { recursive: true });
  // The project's own list stays as it is.
  renameSync(join(folder, "app/routes.ts"), join(folder, "app/own-routes.ts"));
  const modules = ["./example-pages/routes", ...findFeatureExamples(), "./own-routes"];
  const imports = modules.map((module, index) => `import list${index} from "${module}";\n`);
  const lists = modules.map((_, index) => `  ...(await list${index}),\n`);
  writeFileSync(join(folder, "app/routes.ts"), `${imports.join("")}export default [\n${lists.join("")}];\n`);
  // A colour that the two pages don't have.
  const theme = readFileSync("app/theme.css", "utf8").replace("@theme {", "@theme {\n  --color-brand: #ff6600;");
  writeFileSync(join(folder, "app/theme.css"), theme);
  const config = readFileSync("vite.config.ts", "utf8").replace(/(EXTERNAL_PACKAGES.* = \[)/, '$1"@node-rs/argon2", ');
  writeFileSync(join(folder, "vite.config.ts"), config);
  writeFileSync(join(folder, "public/film.mp4"), Buffer.alloc(FILM_BYTES, "0123456789"));
  return folder;
}

/** The features of app/ that have example pages. */
const findFeatureExamples = () =>
  readdirSync("app")
    .map((name) => `./${name}/examples/routes`)
    .filter((module) => existsSync(`app/${module}.ts`));

/** Makes a production build. If it fails, rejects with its output. */
export async function build(folder: string, env = {}) {
  await promisify(execFile)("npm", ["run", "build"], { cwd: folder, env: { ...process.env, ...env } });
}
