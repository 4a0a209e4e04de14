// The commands of the engine's README, in a project like that of `npx create-react-router@7`.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createTest, findFreePort } from "react-router-express-server/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { copyProject } from "./support/copy-project.ts";
import { packEngine, run } from "./support/packed-engine.ts";

const ENGINE = "packages/server";
const bare = mkdtempSync(join(tmpdir(), "bare-"));
const test = createTest(bare);

/** The commands of a section, in blocks, and its text. */
function readSection(heading: string) {
  const [, section = ""] = readFileSync(`${ENGINE}/README.md`, "utf8").split(`\n## ${heading}\n`);
  const [text = ""] = section.replaceAll(/^```.*?^```$/gms, "").split("\n## ");
  return { text, blocks: Array.from(text.matchAll(/(?:^ {4}.*\n)+/gm), ([block]) => block.replaceAll(/^ {4}/gm, "")) };
}

function makeBareProject() {
  cpSync(`${ENGINE}/bench/template`, bare, { recursive: true });
  copyFileSync(`${ENGINE}/test/site/app/app.css`, `${bare}/app/app.css`);
  mkdirSync(`${bare}/public`);
  copyFileSync("public/favicon.ico", `${bare}/public/favicon.ico`);
  writeFileSync(`${bare}/react-router.config.ts`, "export default { ssr: true };\n");
  const { devDependencies, dependencies } = JSON.parse(readFileSync(`${ENGINE}/package.json`, "utf8"));
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, devDependencies[name]]));
  const serve = { "@react-router/serve": devDependencies["@react-router/node"], isbot: dependencies.isbot };
  const manifest = {
    name: "bare",
    private: true,
    type: "module",
    scripts: { build: "react-router build", start: "react-router-serve ./build/server/index.js" },
    dependencies: { ...pick("@react-router/node", "react", "react-dom", "react-router"), ...serve },
    devDependencies: pick("@react-router/dev", "vite"),
  };
  writeFileSync(`${bare}/package.json`, JSON.stringify(manifest));
  run(bare, "npm install --prefer-offline --no-audit --no-fund");
}

function edit(from: string, to: string) {
  const text = readFileSync(`${bare}/vite.config.ts`, "utf8");
  expect(text).toContain(from);
  writeFileSync(`${bare}/vite.config.ts`, text.replace(from, to));
}

describe.skipIf(!existsSync(ENGINE))("in a bare project", () => {
  const { text, blocks } = readSection("Start in a minute");
  const [install = "", start, leave = ""] = blocks;
  const [, line = ""] =
    /In `vite\.config\.ts`, add `([^`]+)`, and `server\(\),` in front of\s`reactRouter\(\)`/.exec(text) ?? [];

  beforeAll(() => {
    makeBareProject();
    const project = copyProject({ withTests: true });
    const tarball = packEngine(project);
    copyFileSync(tarball, join(bare, basename(tarball)));
    rmSync(project, { recursive: true });
    run(bare, `set -e\n${install}`);
    edit("reactRouter()", "server(), reactRouter()");
    edit("import", `${line}\nimport`);
    expect(start).toBe("npm run build\nnpm start\n");
    run(bare, "npm run build");
  }, 600_000);
  afterAll(() => rmSync(bare, { recursive: true }));

  test("the commands of the README start the engine, and its pages hydrate", async ({ page, server }) => {
    const response = await page.goto(server.url);
    expect(response?.headers()["content-security-policy"]).toContain("nonce-");
    await page.waitForFunction(() =>
      Object.keys(document.querySelector("h1") ?? {}).some((key) => /^__react/.test(key)),
    );
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
    expect(server.lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  test("the commands of the README bring react-router-serve back", async () => {
    edit("server(), ", "");
    edit(`${line}\n`, "");
    run(bare, `set -e\n${leave}\nnpm run build`);
    expect(readFileSync(`${bare}/package.json`, "utf8")).not.toContain("express");
    const port = String(await findFreePort());
    const env = { PATH: process.env.PATH ?? "", HOST: "127.0.0.1", PORT: port };
    const child = spawn("npm", ["start"], { cwd: bare, env, detached: true, stdio: "ignore" });
    onTestFinished(() => void process.kill(-(child.pid ?? expect.unreachable("npm didn't start"))));
    const fetchStatus = () => fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status, String);
    await expect.poll(fetchStatus).toBe(200);
  });
});
