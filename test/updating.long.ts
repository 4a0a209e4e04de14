// An update replaces packages/server as a whole, with the commands of docs/updating.md, and never has a conflict.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "react-router-express-server/testing";
import { expect, onTestFinished, test } from "vitest";

const ENGINE = "packages/server";
/** What a team rewrites first. */
const HOME = `export const meta = () => [{ title: "Shop" }];\n
export default function Home() {\n  return <main>Our shop</main>;\n}\n`;

const shell = (cwd: string, command: string) => {
  const { NODE_ENV, ...env } = process.env; // Vitest's own.
  return execFileSync("sh", ["-c", command], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
};

/** Makes a product of the first commit that has the engine, as a team would. */
function makeProduct(commit: string) {
  const folder = mkdtempSync(join(tmpdir(), "product-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  shell(".", `git archive ${commit} | tar -x -C ${folder}`);
  writeFileSync(join(folder, "README.md"), "# Our shop\n");
  writeFileSync(join(folder, "app/routes/home.tsx"), HOME);
  shell(folder, "git init -q -b main && git config user.name team && git config user.email team@example.org");
  shell(folder, "git add -A && git commit -qm 'Make it ours'");
  return folder;
}

/** Checks the types, builds, and requests both pages. */
async function check(folder: string) {
  shell(folder, "npm run typecheck && npm run build");
  const { url, stop } = await startServer({}, folder);
  const responses = await Promise.all([fetch(url), fetch(`${url}/nowhere`)]);
  expect(responses.map(({ status }) => status)).toEqual([200, 404]);
  expect(await responses[0]?.text()).toContain("Our shop");
  expect(await stop()).toBe(0);
}

/** Links the packages of this project, and the product's engine. */
function linkPackages(folder: string, engine: string) {
  shell(folder, "mkdir -p node_modules");
  for (const name of readdirSync("node_modules")) {
    const to = join(folder, "node_modules", name);
    if (name === "@react-router") shell(".", `cp -r node_modules/${name} ${to}`);
    else if (!name.startsWith(".vite"))
      symlinkSync(name === "react-router-express-server" ? engine : resolve("node_modules", name), to);
  }
}

const FIRST = existsSync(".git")
  ? shell(".", `git log --diff-filter=A --format=%H -- ${ENGINE}/package.json`).trim().split("\n").at(-1)
  : undefined;

test.runIf(FIRST)("a product replaces the engine's folder by today's", async () => {
  const folder = makeProduct(FIRST ?? "");
  const template = mkdtempSync(join(tmpdir(), "template-"));
  onTestFinished(() => rmSync(template, { recursive: true }));
  shell(".", `git clone -q . ${template}`);
  // The uncommitted changes, too.
  shell(
    ".",
    `rm -r ${template}/${ENGINE} && mkdir ${template}/${ENGINE} && git ls-files -z -co --exclude-standard ${ENGINE} | xargs -0 tar -c | tar -x -C ${template}`,
  );
  shell(
    template,
    "git add -A && git -c user.name=t -c user.email=t@example.org commit -qm today --allow-empty && git branch -f main",
  );
  shell(folder, `git remote add template ${template} && git fetch -q template`);
  shell(folder, `git rm -rq ${ENGINE} && git checkout template/main -- ${ENGINE}`);
  linkPackages(folder, join(folder, ENGINE));
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("# Our shop\n");
  await check(folder);
});

test.runIf(FIRST)("a product replaces the engine's folder by a packed one", async () => {
  const folder = makeProduct(FIRST ?? "");
  const packed = shell(".", `npm pack --silent --workspace ${ENGINE} --pack-destination ${folder}`).trim();
  rmSync(join(folder, "packages"), { recursive: true });
  const engine = join(folder, "engine");
  shell(folder, `mkdir engine && tar -x -C engine --strip-components=1 -f ${packed}`);
  linkPackages(folder, engine);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  delete manifest.workspaces;
  manifest.scripts.typecheck = "react-router typegen && tsc";
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  await check(folder);
});
