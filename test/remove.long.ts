import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { startServer } from "react-router-express-server/testing";
import { expect, onTestFinished, test } from "vitest";
import { copyProject } from "./support/copy-project.ts";
import { brotliSize } from "./support/fixtures.ts";
import { run } from "./support/packed-engine.ts";

const TABLE = readFileSync("docs/make-it-yours.md", "utf8");
/** How many KB a first visit has less without a feature. */
const SIZES = Object.fromEntries(
  Array.from(TABLE.matchAll(/\| `([\w-]+)` +\| (?:nothing|(\d+) KB)/g), ([, name, size = 0]) => [name, Number(size)]),
);
const SIZE_OF_ALL = Number(/all together save (\d+) KB/.exec(TABLE)?.[1]);

/** No file has these any more when the feature is gone. */
const TRACES: Record<string, string> = {
  layout: "app/layout|layout/(layout|examples)",
  toast: "toast|sonner",
  tooltip: "tooltip",
  query: "app/query|react-query|QueryProvider",
  "theme-choice": "theme-?choice|data-theme|useTheme",
  deploy: '[{"]deploy\\b|(^|[^[:alnum:]_/-])deploy/|caddy|prometheus|varnish|kubernetes-',
};

const { status, stderr } = spawnSync(process.execPath, ["template/remove.js"], { encoding: "utf8" });
/** The script lists them. */
const NAMES = stderr.trim().split(" -- ").at(-1)?.split(" ") ?? [];

/** All of `npm test`, except the tests of the engine and those that need servers and browsers. */
const STATIC = [
  "npm run lint",
  "npm run typecheck",
  "npm run unused",
  "npx vitest run --project unit",
  "npm run build",
];
const ALL = [...STATIC.slice(0, 4), "npx vitest run --project fast --project slow", "npm run docs:build"];

function copy() {
  const project = copyProject({ withTests: true });
  onTestFinished(() => rmSync(project, { recursive: true }));
  run(project, "git init --quiet && git add --all");
  return project;
}

/** Removes features with one command, which prints what git sees. */
function remove(project: string, names: string[]) {
  // The packages of a copy are links.
  const printed = run(project, `npm_config_package_lock_only=true npm run --silent remove -- ${names.join(" ")}`);
  const changes = run(project, "git diff --name-status").replaceAll("D\t", "removed ").replaceAll("M\t", "changed ");
  const lines = printed.split("\n").filter((line) => !line.startsWith("left: "));
  expect(lines.sort()).toEqual(changes.split("\n").sort());
  run(project, "git add --all");
}

function expectNoTraces(project: string, names: string[]) {
  const traces = names.map((name) => TRACES[name]).join("|");
  const others =
    "':!CHANGELOG.md' ':!package-lock.json' ':!packages' ':!.ci' ':!template' ':!test/base-path.long.ts' ':!test/remove.long.ts'";
  expect(run(project, `git grep -inE '${traces}' -- . ${others} || true`)).toBe("");
}

/** The bytes of a first visit to `/`: its document and the scripts that it names, compressed. */
async function measureFirstVisit(folder: string) {
  const server = await startServer({}, folder);
  const html = await (await fetch(server.url)).text();
  await server.stop();
  const scripts = new Set(html.match(/(?<=\/assets\/)[^"]+\.js/g));
  return brotliCompressSync(html).length + brotliSize(folder, [...scripts]);
}

/** How many bytes the project's first visit has more than that of a copy without features. */
async function measureSize(copy: string) {
  const bytes = (await measureFirstVisit(process.cwd())) - (await measureFirstVisit(copy));
  console.log(`${bytes} bytes less`);
  return bytes;
}

test("without a feature's name, nothing is removed, and the features are listed", () => {
  expect(status).toBe(1);
  expect(NAMES.filter((name) => !TRACES[name])).toEqual([]);
  const project = copy();
  const unknown = spawnSync(process.execPath, ["template/remove.js", ...NAMES, "nothing"], {
    cwd: project,
    encoding: "utf8",
  });
  expect({ status: unknown.status, stderr: unknown.stderr }).toEqual({ status, stderr });
  expect(run(project, "git diff --name-status")).toBe("");
});

test("a feature that is removed already stays removed, and what is left is listed", () => {
  const project = copy();
  remove(project, ["layout"]);
  const again = "npm_config_package_lock_only=true npm run --silent remove -- layout";
  expect(run(project, again)).toBe("layout is removed already\n");
  expect(run(project, "git status --short --untracked-files=no | grep -v '^[MDA] ' || true")).toBe("");
  expect(run(project, `${again} deploy`)).toMatch(
    /^layout is removed already\n.*left: toast tooltip query theme-choice\n$/s,
  );
});

test.each(NAMES)("the project passes without %s", { timeout: 3_600_000 }, async (name) => {
  const project = copy();
  remove(project, [name]);
  expectNoTraces(project, [name]);
  for (const command of STATIC) run(project, command);
  expect(Math.round((await measureSize(project)) / 1000)).toBe(SIZES[name]);
});

test("without any feature, the project passes, and the script is gone", { timeout: 3_600_000 }, async () => {
  const [project, other] = [copy(), copy()];
  remove(project, NAMES.toReversed());
  for (const name of NAMES) remove(other, [name]);
  const [tree, otherTree] = [project, other].map((folder) => run(folder, "git write-tree"));
  expect(tree).toBe(otherTree);
  expectNoTraces(project, NAMES);
  expect(existsSync(`${project}/template/remove.js`)).toBe(false);
  expect(run(project, "git grep -n 'npm run remove' ':!CHANGELOG.md' || true")).toBe("");
  expect(JSON.parse(readFileSync(`${project}/package.json`, "utf8")).scripts).not.toHaveProperty("remove");
  for (const command of ALL) run(project, command);
  run(project, "npm run build");
  expect(Math.round((await measureSize(project)) / 1000)).toBe(SIZE_OF_ALL);
});
