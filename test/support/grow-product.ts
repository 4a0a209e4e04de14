import { randomFillSync } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { PNG } from "pngjs";
import routes from "../../app/routes.ts";
import { copyProject } from "./copy-project.ts";
import { installPackages } from "./install-packages.ts";

/** The examples of the engine. */
const EXAMPLES = "packages/server/test/site/app/example-pages";
const DATABASE = "packages/server/test/database";

/** Example pages that become the product's, with the tests beside them. */
const PAGES = `dialog.tsx note.tsx note.test.ts weather.tsx temperature.ts docs.tsx docs-start.tsx docs-page.tsx
  tasks.tsx tasks-start.tsx sign-up.tsx sign-up.test.ts password.ts upload.tsx clock.tsx ticks.ts`.split(/\s+/);

/** The texts and colours of test/fixtures/product/app/routes/home.tsx. */
const HOME = {
  path: "/",
  title: "Coffee & Cake",
  description: 'Today\'s coffee & cake, with a pinch of "salt".',
  texts: ["Good Morning", "Coffee & cake at all times.", "About us"],
};
const COLORS = [
  { colorScheme: "light", ink: "#10233f", paper: "#eefaf3" },
  { colorScheme: "dark", ink: "#effff6", paper: "#07240f" },
];

/** The packages that the pages and services import, in the versions of the engine's tests. */
const PACKAGES = [
  "@fastify/busboy",
  "@node-rs/argon2",
  "@radix-ui/react-dialog",
  "express-rate-limit",
  "pg",
  "valibot",
];

/** Packages that the project doesn't install. */
const NEW_PACKAGES = {
  dependencies: { "@fontsource-variable/inter": "5.3.0" },
  devDependencies: { "@mdx-js/rollup": "3.1.1" },
};

const SETTINGS = [
  ["DATABASE_URL", "postgres://127.0.0.1:1/product"],
  ["SESSION_SECRET", "made-with-openssl-rand-hex-32-by-us"],
];

/**
 * Copies the whole project, with its tests, and grows a product out of it as the README, CONTRIBUTING and docs/ say.
 * A project with further pages or another greeting, or without the engine's tests, is a product already, and stays as it
 * is.
 */
export async function growProduct() {
  const folder = copyProject({ withTests: true });
  const { devDependencies } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const isProduct = (await routes).length > 2 || !existsSync(`${folder}/test/greeting.slow.ts`);
  if (isProduct || !("fast-check" in devDependencies)) return folder;
  addPages(folder);
  addServices(folder);
  addPackages(folder);
  changeGreeting(folder);
  return folder;
}

function edit(file: string, change: (text: string) => string) {
  const text = readFileSync(file, "utf8");
  const changed = change(text);
  if (changed === text) throw new Error(`${file} has nothing to change`);
  writeFileSync(file, changed);
}

function addPages(folder: string) {
  const asOurs = (text: string) => text.replaceAll("example-pages/", "").replace('"/posts/', '"/blog/');
  const add = (from: string, to: string) => {
    cpSync(from, `${folder}/app/${to}`);
    writeFileSync(`${folder}/app/${to}`, asOurs(readFileSync(from, "utf8")));
  };
  cpSync("test/fixtures/product", folder, { recursive: true });
  // Not a test of the project itself.
  renameSync(`${folder}/test/growing-up.ts`, `${folder}/test/growing-up.test.ts`);
  for (const page of PAGES) add(`${EXAMPLES}/${page}`, `routes/${page}`);
  for (const file of readdirSync(`${EXAMPLES}/sign-in`)) add(`${EXAMPLES}/sign-in/${file}`, `sign-in/${file}`);
  add(`${EXAMPLES}/post.tsx`, "routes/blog/post.tsx");
  add(`${EXAMPLES}/third-parties.tsx`, "routes/video.tsx");
  add(`${DATABASE}/users.tsx`, "routes/users.tsx");
  edit(`${folder}/app/routes/video.tsx`, (text) => text.replace("./+types/third-parties", "./+types/video"));
  mkdirSync(`${folder}/app/routes/guides`);
  for (let guide = 1; guide <= 14; guide++) {
    const page = `export const meta = () => [{ title: "Guide" }];\n
export default function Guide() {\n  return <main><h1>Guide ${guide}</h1></main>;\n}\n`;
    writeFileSync(`${folder}/app/routes/guides/guide-${guide}.tsx`, page);
  }
  rmSync(`${folder}/public/robots.txt`);
  const photo = new PNG({ width: 118, height: 118 });
  randomFillSync(photo.data);
  writeFileSync(`${folder}/public/team.png`, PNG.sync.write(photo, { colorType: 2 }));
}

function addServices(folder: string) {
  const engine = JSON.parse(readFileSync("packages/server/package.json", "utf8"));
  edit(`${folder}/package.json`, (text) => {
    const { dependencies, devDependencies, ...rest } = JSON.parse(text);
    for (const name of PACKAGES) {
      dependencies[name] = devDependencies[name] ?? engine.dependencies[name];
      delete devDependencies[name];
    }
    return JSON.stringify({ ...rest, dependencies, devDependencies }, null, 2);
  });
  edit(`${folder}/app/root.tsx`, (text) =>
    text
      .replace("useLocation }", "useLocation, useMatches }")
      .replace("import css from", 'import { languageOf } from "./language";\n$&')
      .replace(
        "  const nonce",
        `  const { pathname } = useLocation();
  const handles = useMatches().map(({ handle }) => handle as { hasScripts?: boolean } | undefined);
  const hasScripts = !handles.some((handle) => handle?.hasScripts === false);
$&`,
      )
      .replace(/lang="[^"]*"/, "lang={languageOf(pathname)}")
      .replace(
        "import { type ReactNode,",
        'import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2";\n$&',
      )
      .replace(
        "        <Meta />",
        `        <link rel="preload" href={inter} as="font" type="font/woff2" crossOrigin="anonymous" />\n$&`,
      )
      .replace("<ScrollRestoration />", "{hasScripts && <ScrollRestoration />}")
      .replace("<Scripts />", "{hasScripts && <Scripts />}"),
  );
  edit(`${folder}/vite.config.ts`, (text) =>
    text
      .replace("server()", 'server({ externalPackages: ["@node-rs/argon2"] })')
      .replace("    reactRouter()", "    mdx(),\n$&")
      .replace("import { reactRouter }", 'import mdx from "@mdx-js/rollup";\n$&')
      .replace("  plugins: [", "  resolve: { tsconfigPaths: true },\n$&"),
  );
  edit(`${folder}/vitest.config.ts`, (text) =>
    text.replace(/test: { \.\.\.(unit|production)/g, "resolve: { tsconfigPaths: true }, $&"),
  );
  // Here, knip wouldn't find it.
  const button = "components/ui/button";
  edit(`${folder}/app/${button}.test.tsx`, (text) => text.replace('"./button"', `"@/${button}"`));
  edit(`${folder}/tsconfig.json`, (text) => text.replace(/"types": .*/, '$&\n    "paths": { "@/*": ["./app/*"] },'));
  edit(`${folder}/.env.example`, (text) => text + SETTINGS.map(([name, value]) => `\n${name}=${value}\n`).join(""));
}

function addPackages(folder: string) {
  const { dependencies, devDependencies } = NEW_PACKAGES;
  edit(`${folder}/package.json`, (text) => {
    const manifest = JSON.parse(text);
    Object.assign(manifest.dependencies, dependencies);
    Object.assign(manifest.devDependencies, devDependencies);
    return JSON.stringify(manifest, null, 2);
  });
  installPackages(folder, { ...dependencies, ...devDependencies });
}

/** Home itself is among the pages. */
function changeGreeting(folder: string) {
  for (const [index, file] of ["app/theme.css", "app/app.css"].entries()) {
    const { ink = "", paper = "" } = COLORS[index] ?? {};
    edit(`${folder}/${file}`, (text) =>
      text.replace(/(--color-ink: )#\w+/, `$1${ink}`).replace(/(--color-paper: )#\w+/, `$1${paper}`),
    );
  }
  edit(`${folder}/app/theme.css`, (text) => text.replace("--font-sans:", '$& "Inter", "Inter Fallback",'));
  edit(`${folder}/app/app.css`, (text) =>
    text.replace('@import "./theme.css";', '$&\n@import "./fonts.css";\n@import "./transitions.css";'),
  );
  // Words that are longer than the greeting's.
  edit(`${folder}/app/app.css`, (text) => text.replace("27vw", "18vw"));
  // A rule of the greeting that home doesn't need any more.
  edit(`${folder}/app/app.css`, (text) => text.replace(/ {2}:lang\(zh-Hans\) \{.*?\}\n\n/s, ""));
  for (const { colorScheme, paper } of COLORS) {
    const theme = new RegExp(`(name="theme-color" content=")[^"]+(" media="\\(prefers-color-scheme: ${colorScheme})`);
    edit(`${folder}/app/root.tsx`, (text) => text.replace(theme, `$1${paper}$2`));
  }
  edit(`${folder}/test/content.test.ts`, (text) =>
    text
      .replace(/const HOME = .*?};/s, `const HOME = ${JSON.stringify(HOME)};`)
      .replace(/const COLORS = .*?] as const;/s, `const COLORS = ${JSON.stringify(COLORS)} as const;`),
  );
  rmSync(`${folder}/test/greeting.slow.ts`);
  writeFileSync(`${folder}/README.md`, "# Coffee & cake\n");
}
