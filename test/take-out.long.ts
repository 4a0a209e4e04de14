// Each feature of the README's table "Keep or take out" can be taken out as the table describes.
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { copyProject } from "./support/copy-project.ts";

const [, section = ""] = readFileSync("README.md", "utf8").split("## Keep or take out");
const [table = ""] = section.split("\n## ");
const [, , ...ROWS] = [...table.matchAll(/^\|(.*)\|$/gm)].map(([, row = ""]) =>
  row.split("|").map((cell) => cell.trim().replaceAll("`", "")),
);
const FEATURES = ROWS.map(([feature = "", folder = "", word = "", files = "", packages = ""]) => ({
  feature: feature.replace(/\[(.*?)\].*/, "$1"),
  folder,
  word,
  files: files.split(", "),
  packages: packages.split(" "),
}));

function takeOut(project: string, { folder, word, files, packages }: (typeof FEATURES)[0]) {
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: project, stdio: "pipe" });
  run("git", "rm", "-r", folder);
  const deleteLines = (file: string, text: string) => {
    const lines = readFileSync(`${project}/${file}`, "utf8").split("\n");
    const isNamed = (line: string) => line.toLowerCase().includes(text.toLowerCase());
    expect(lines.filter(isNamed), `${file} has no line with ${text}`).not.toEqual([]);
    // In documents, each is a row, an item of a list, or a whole paragraph.
    const isPart = (line: string, index: number) => !/^(\|| *- )/.test(line) && (lines[index - 1] || lines[index + 1]);
    if (file.endsWith(".md")) expect(lines.filter((line, index) => isNamed(line) && isPart(line, index))).toEqual([]);
    writeFileSync(`${project}/${file}`, lines.filter((line) => !isNamed(line)).join("\n"));
  };
  for (const file of files) deleteLines(file, word);
  deleteLines("README.md", `${folder}/`);
  run("npm", "uninstall", "--package-lock-only", ...packages);
  // No file except CHANGELOG.md names the folder any more.
  const grep = `git grep -lE '(^|[^[:alnum:]_/-])${folder}/' -- . ':!CHANGELOG.md' ':!packages' || true`;
  expect(execFileSync("sh", ["-c", grep], { cwd: project, encoding: "utf8" })).toBe("");
}

/** All of `npm test`, except the tests that need servers and browsers. */
const CHECKS = ["npm run lint", "npm run typecheck", "npx knip", "npx vitest run --project unit", "npm run build"];
/** `npm test`, without the tests of the engine. */
const ALL = ["npm run lint", "npm run typecheck", "npx knip", "npx vitest run --project unit --project fast"];

test.each([
  ...FEATURES.map((feature) => ({ what: feature.feature, features: [feature], commands: CHECKS })),
  { what: "all of them", features: FEATURES, commands: ALL },
])("the project passes without $what", { timeout: 3_600_000 }, async ({ features, commands }) => {
  const project = copyProject({ withTests: true });
  onTestFinished(() => rmSync(project, { recursive: true }));
  const commit = "git -c user.name=team -c user.email=team@example.org commit --quiet --message=start";
  execFileSync("sh", ["-c", `git init --quiet && git add --all && ${commit}`], { cwd: project });
  for (const feature of features) takeOut(project, feature);
  const { PATH, HOME, TMPDIR, CHROMIUM = "" } = process.env;
  const env = { NO_COLOR: "1", PATH, HOME, TMPDIR, CHROMIUM };
  for (const command of ["npm run format", ...commands]) {
    const running = promisify(execFile)("sh", ["-c", command], { cwd: project, env, maxBuffer: 1e8 });
    await running.catch(({ stdout, stderr }) => expect.unreachable(stdout.slice(-20_000) + stderr.slice(-5000)));
  }
});
