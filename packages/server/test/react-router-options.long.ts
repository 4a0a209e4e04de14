// Options and packages of React Router that a site may add (docs/growing-up.md of the template).
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepViolations, startServer } from "react-router-express-server/testing";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { test as base, expect, open } from "./support/fixtures.ts";

const PACKAGES = ["@react-router/fs-routes@7.18.4", "babel-plugin-react-compiler@1.0.0", "vite-plugin-babel@1.7.3"];
/** These, and what they need beside the packages of the site. */
const COPIED = [
  "@react-router/fs-routes",
  "babel-plugin-react-compiler",
  "vite-plugin-babel",
  "minimatch",
  "brace-expansion",
  "balanced-match",
];

const ROUTES = `import { route } from "@react-router/dev/routes";
import { flatRoutes } from "@react-router/fs-routes";
export default [...(await flatRoutes({ rootDirectory: "pages" })), route("*", "routes/not-found.tsx", { id: "404" })];`;

const COUNTER = `import { useState } from "react";
export const meta = () => [{ title: "Counter" }];
export default function Counter() {
  const [count, setCount] = useState(0);
  return <main><h1>Counter</h1><button type="button" onClick={() => setCount(count + 1)}>{count}</button></main>;
}`;

const COMPILER = `babel({
  include: /\\/app\\/.*\\.tsx$/,
  babelConfig: { presets: ["@babel/preset-typescript"], plugins: ["babel-plugin-react-compiler"] },
})`;

function installPackages(folder: string) {
  const installed = mkdtempSync(join(tmpdir(), "packages-"));
  writeFileSync(join(installed, "package.json"), "{}");
  // The site has the peers.
  const options = "--legacy-peer-deps --prefer-offline --no-audit --no-fund";
  execSync(`npm install ${options} ${PACKAGES.join(" ")}`, { cwd: installed, stdio: "ignore" });
  for (const name of COPIED) {
    const to = join(folder, "node_modules", name);
    rmSync(to, { recursive: true, force: true }); // A link to that of the repository.
    cpSync(join(installed, "node_modules", name), to, { recursive: true });
  }
  rmSync(installed, { recursive: true });
}

function replaceIn(file: string, found: string, replacement: string) {
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(found, () => replacement),
  );
}

const test = base.extend("site", { scope: "file" }, async ({ browser: _ }, { onCleanup }) => {
  const folder = copySite();
  installPackages(folder);
  mkdirSync(`${folder}/app/pages`);
  cpSync(`${folder}/app/routes/home.tsx`, `${folder}/app/pages/_index.tsx`);
  writeFileSync(`${folder}/app/pages/counters.$name.tsx`, COUNTER);
  writeFileSync(`${folder}/app/routes.ts`, ROUTES);
  const [config, vite] = [`${folder}/react-router.config.ts`, `${folder}/vite.config.ts`];
  replaceIn(config, "export default {", "export default { subResourceIntegrity: true,");
  replaceIn(vite, "reactRouter()", `reactRouter(), ${COMPILER}`);
  replaceIn(vite, "import", 'import babel from "vite-plugin-babel";\nimport');
  await build(folder);
  const server = await startServer({}, folder);
  onCleanup(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return { ...server, folder };
});

test.for([
  ["/", 200],
  ["/counters/first", 200],
  ["/nowhere", 404],
] as const)("@react-router/fs-routes: %s has a page", async ([path, status], { site }) => {
  expect((await fetch(site.url + path)).status).toBe(status);
});

test("React Compiler: components are memoized, and hydrate", async ({ page, site }) => {
  const assets = `${site.folder}/build/client/assets`;
  const name = readdirSync(assets).find((file) => /^counters.*\.js$/.test(file)) ?? "";
  // The cache of a component: `const $ = _c(5)`.
  expect(readFileSync(`${assets}/${name}`, "utf8")).toMatch(/\.c\)\(\d+\)/);
  await open(page, `${site.url}/counters/first`);
  await page.getByRole("button", { name: "0" }).click();
  await page.getByRole("button", { name: "1" }).waitFor();
});

test.for([
  ["cached", "/"],
  ["rendered", "/counters/first"],
])("subResourceIntegrity: a %s page has the hashes of all scripts, and hydrates", async ([, path], { page, site }) => {
  await keepViolations(page);
  const html = (await (await open(page, site.url + path))?.text()) ?? "";
  const map: { integrity: object } = JSON.parse(/type="importmap"[^>]*>(.*?)<\/script>/s.exec(html)?.[1] ?? "{}");
  const hashes = Object.entries(map.integrity);
  expect(hashes.length).toBeGreaterThan(3);
  for (const [url, hash] of hashes) {
    const bytes = Buffer.from(await (await fetch(site.url + url)).arrayBuffer());
    expect(`sha384-${createHash("sha384").update(bytes).digest("base64")}`, url).toBe(hash);
  }
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});
