// A project from an older commit merges the updates since then, with the commands of docs/updating.md.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const COMMITS = 60;
const DOCS = readFileSync("docs/updating.md", "utf8");
const COMMANDS = DOCS.split("\n").filter((line) => line.startsWith("    git "));
/** The files that the docs name as those that a team rewrites. */
const REWRITTEN = ["README.md", "app/routes/home.tsx", "server/services.ts"];

const run = (cwd: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const shell = (cwd: string, command: string) => run(cwd, "sh", "-c", command);

test("a download names its commit", ({ skip }) => {
  skip(!existsSync(".git"), "needs the repository");
  expect(shell(".", "git archive HEAD .template-commit | tar -xO")).toBe(run(".", "git", "rev-parse", "HEAD"));
});

test(`a product of ${COMMITS} commits ago merges the updates, with conflicts in what it has rewritten only`, ({
  skip,
}) => {
  const commit = existsSync(".git") && run(".", "git", "rev-list", "--max-count=1", `--skip=${COMMITS}`, "HEAD").trim();
  if (!commit) return skip("needs the repository, with its history");
  const folder = mkdtempSync(join(tmpdir(), "updating-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const product = join(folder, "product");
  const template = join(folder, "template.git");
  run(".", "git", "clone", "--quiet", "--bare", ".", template);
  run(template, "git", "update-ref", "refs/heads/main", run(".", "git", "rev-parse", "HEAD").trim());
  shell(".", `mkdir ${product} && git archive ${commit} | tar -x -C ${product}`);
  const commitAll = (message: string) => shell(product, `git add -A && git commit -qm "${message}"`);
  shell(product, "git init -q -b main && git config user.name team && git config user.email team@example.org");
  commitAll("Begin");
  for (const file of REWRITTEN) {
    expect(existsSync(join(product, file))).toBe(true);
    writeFileSync(join(product, file), "Our own\n");
  }
  writeFileSync(join(product, "app/routes/prices.tsx"), "export default () => <h1>Prices</h1>;\n");
  appendFileSync(join(product, "app/theme.css"), "/* ours */\n");
  commitAll("Make it ours");

  // Older commits have no .template-commit.
  const values = { "<the template's address>": template, "$(cat .template-commit)": commit };
  const replaced = COMMANDS.map((command) =>
    Object.entries(values).reduce((text, [from, to]) => text.replace(from, to), command.trim()),
  );
  for (const command of replaced.slice(0, -1)) shell(product, command);
  expect(run(product, "git", "status", "--porcelain")).toBe("");
  const merge = replaced.at(-1) ?? "";
  expect(merge).toBe("git merge template/main");
  shell(product, `${merge} || true`);
  const conflicts = run(product, "git", "diff", "--name-only", "--diff-filter=U").split("\n").filter(Boolean);
  console.log({ conflicts });
  expect(REWRITTEN).toEqual(expect.arrayContaining(conflicts));
  // Files that only the template has changed are the template's.
  expect(readFileSync(join(product, "server.ts"), "utf8")).toBe(run(".", "git", "show", "HEAD:server.ts"));
  expect(existsSync(join(product, "app/routes/prices.tsx"))).toBe(true);
});
