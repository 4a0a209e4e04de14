import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const PROJECT = copyProject({ withTests: true });
afterAll(() => rmSync(PROJECT, { recursive: true }));

// create-react-router names the package after its folder.
run(PROJECT, "npm pkg set name=folder && git init --quiet && git add --all");
const TREE = run(PROJECT, "git write-tree").trim();

// The packages of a copy are links.
const ENV = { ...process.env, npm_config_package_lock_only: "true" };
const rename = (name: string) =>
  spawnSync("npm", ["run", "--silent", "rename", "--", name], { cwd: PROJECT, encoding: "utf8", env: ENV });

const read = (file: string) => readFileSync(`${PROJECT}/${file}`, "utf8");

/** The word as the greeting that the page shows, and the file that tests it. */
const GREETING = /\b([Tt]he|[Aa]|another|friendly) greeting\b|test\/greeting\.slow\.ts/g;

test.each(["", "Our-Shop", "our shop", "-shop", "shop-", "@us/shop", "s".repeat(41)])("%j isn't accepted", (name) => {
  expect(rename(name)).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("our-shop") });
  expect(run(PROJECT, "git diff --name-status")).toBe("");
});

test("a renamed project has the new name everywhere, and passes", { timeout: 3_600_000 }, () => {
  const { stdout } = rename("our-shop");
  run(PROJECT, "git add --all");
  const changes = run(PROJECT, `git diff --cached --name-status --no-renames ${TREE}`)
    .replaceAll("D\t", "removed ")
    .replaceAll(/[AM]\t/g, "changed ");
  const printed = stdout.split("\n").filter((line) => !line.startsWith("left "));
  expect(printed.sort()).toEqual(changes.split("\n").sort());

  const lines = run(PROJECT, "git grep -iw greeting -- . ':!packages' ':!.ci' ':!template'").trim().split("\n");
  expect(lines.filter((line) => /greeting/i.test(line.replaceAll(GREETING, "")))).toEqual([]);
  const lockfile = JSON.parse(read("package-lock.json"));
  const names = [JSON.parse(read("package.json")).name, lockfile.name, lockfile.packages[""].name];
  expect(names).toEqual(["our-shop", "our-shop", "our-shop"]);
  expect(JSON.parse(read("public/site.webmanifest"))).toMatchObject({ name: "Our Shop", short_name: "Our Shop" });
  expect(read("README.md")).toMatch(/^# Our Shop\n/);

  expect(existsSync(`${PROJECT}/test/rename.long.ts`)).toBe(false);
  expect(run(PROJECT, "git grep -n 'npm run rename' ':!CHANGELOG.md' ':!template/rename.js' || true")).toBe("");
  run(PROJECT, "npm run lint && npm run typecheck && npm run unused");
  run(PROJECT, "npx vitest run --project fast --project slow deployment image imports");
});

test.each([
  { name: "our-shop", status: 0 },
  { name: "your-shop", status: 1 },
])("renamed again to $name, the project stays, and the files with its name are listed", ({ name, status }) => {
  const before = run(PROJECT, "git status --short");
  const listed = expect.stringMatching(/^The site is called Our Shop already\. .* {2}LICENSE\n.* {2}package\.json\n/s);
  expect(rename(name)).toMatchObject({ status, stdout: listed, stderr: "" });
  expect(run(PROJECT, "git status --short")).toBe(before);
});

/** In MB: node_modules of React Router's template with Tailwind, of React Router 7.18. */
const TEMPLATE_SIZE = 153;

test("a renamed project installs at most 1.4 times what React Router's template does", { timeout: 1_800_000 }, () => {
  rmSync(`${PROJECT}/node_modules`, { recursive: true });
  run(PROJECT, "npm ci --prefer-offline --no-audit --no-fund");
  run(PROJECT, "npm ls");
  const size = Number(run(PROJECT, "du -sm node_modules | cut -f 1"));
  console.log(`${size} MB`);
  expect(size).toBeLessThanOrEqual(1.4 * TEMPLATE_SIZE);
});

test("with the packages that it installs, a renamed project passes the site's own tests", {
  timeout: 1_800_000,
}, () => {
  run(PROJECT, "npm run test:site");
});
