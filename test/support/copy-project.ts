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
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";

const NEVER_COPIED = [".env", ".git", ".react-router", "build", "dist", "film.mp4", "node_modules"];
/** A build needs none of these. The engine is in node_modules. */
const TESTS_AND_DOCS = ["bench", "deploy", "docs", "packages", "test", "tools"];
const TEST_FILE = /(\.(test|slow)\.tsx?|(fixtures|screenshot)\.ts)$/;

/** Copies the project to a new folder, with its uncommitted changes. With `withTests`, its tests can run there. */
export function copyProject({ withTests = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  const filter = (path: string) => !NEVER_COPIED.includes(basename(path)) && (withTests || !TEST_FILE.test(path));
  for (const name of readdirSync(".")) {
    const isLeftOut = NEVER_COPIED.includes(name) || (!withTests && TESTS_AND_DOCS.includes(name));
    if (!isLeftOut) cpSync(name, join(folder, name), { recursive: true, filter });
  }
  mkdirSync(join(folder, "node_modules"));
  // Packages are links, and the folder around them, which has Vite's cache, is the copy's own. In development, Vite serves
  // the framework's entry, so that isn't a link: Vite serves no file from outside the project.
  for (const name of readdirSync("node_modules")) {
    const [from, to] = [join(resolve("node_modules"), name), join(folder, "node_modules", name)];
    if (name === "@react-router") cpSync(from, to, { recursive: true });
    else if (name === ENGINE && existsSync(join(folder, "packages"))) symlinkSync("../packages/server", to);
    else if (name !== ".vite") symlinkSync(from, to);
  }
  if (withTests) symlinkSync(resolve("tools/node_modules"), join(folder, "tools/node_modules"));
  return folder;
}

const ENGINE = "react-router-express-server";

/** Copies the project, and adds the example pages of its features and of test/fixtures/. */
export function copyWithExamples() {
  const folder = copyProject();
  cpSync("test/fixtures/examples", join(folder, "app/examples"), { recursive: true });
  // The project's own list stays as it is.
  renameSync(join(folder, "app/routes.ts"), join(folder, "app/own-routes.ts"));
  const modules = ["./examples/routes", ...findFeatureExamples(), "./own-routes"];
  const imports = modules.map((module, index) => `import list${index} from "${module}";\n`);
  const lists = modules.map((_, index) => `  ...(await list${index}),\n`);
  // As in a product, the features' pages are in the layout. Its own examples are in another one.
  imports.push('import { layout } from "@react-router/dev/routes";\n');
  for (const [index, module] of modules.entries()) {
    if (/layout|\.\/(examples|own-routes)/.test(module)) continue;
    lists[index] = `  layout("layout/layout.tsx", { id: "layout-${index}" }, [\n${lists[index]}]),\n`;
  }
  writeFileSync(join(folder, "app/routes.ts"), `${imports.join("")}export default [\n${lists.join("")}];\n`);
  // A colour that the two pages don't have.
  const theme = readFileSync("app/theme.css", "utf8").replace("@theme {", "@theme {\n  --color-brand: #ff6600;");
  writeFileSync(join(folder, "app/theme.css"), theme);
  return folder;
}

/** Sets an option of React Router's config and one of Vite's. */
export function setBase(folder: string, { basename = "/", base = "/" }) {
  for (const [name, start, option] of [
    ["react-router.config.ts", "export default {", `basename: "${basename}"`],
    ["vite.config.ts", "defineConfig({", `base: "${base}"`],
  ] as const) {
    const text = readFileSync(`${folder}/${name}`, "utf8");
    writeFileSync(`${folder}/${name}`, text.replace(start, `${start} ${option},`));
  }
}

/** Builds a copy with example pages, at a base. Resolves with its folder. */
export async function buildWith(options: { basename?: string; base?: string }) {
  const folder = copyWithExamples();
  setBase(folder, options);
  await build(folder);
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
