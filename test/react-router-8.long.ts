// The project and its engine, with the next major version of React Router.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const VERSION = "8.4.0";
/** It needs Node 22.22. A packed engine has no tests. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isSupported = existsSync("packages/server") && (major > 22 || (major === 22 && minor >= 22));
const HOUR = { timeout: 3_600_000 };

describe.skipIf(!isSupported)(`with React Router ${VERSION}`, () => {
  let project: string;
  beforeAll(() => {
    project = copyProject({ withTests: true });
    for (const manifest of [`${project}/package.json`, `${project}/packages/server/package.json`]) {
      const text = readFileSync(manifest, "utf8");
      writeFileSync(manifest, text.replaceAll(/("(@react-router\/\w+|react-router)": )"7[\d.]+"/g, `$1"${VERSION}"`));
    }
    // React Router 8's scripts are 13 bytes larger.
    const budget = `${project}/test/budget.slow.ts`;
    writeFileSync(budget, readFileSync(budget, "utf8").replace("two: 107_280", "two: 107_293"));
    // npm would keep the locked versions.
    for (const name of ["node_modules", "package-lock.json"]) rmSync(`${project}/${name}`, { recursive: true });
    run(project, "npm install --prefer-offline --no-audit --no-fund");
    const installed = run(project, "npm ls react-router --parseable --long").match(/(?<=:react-router@)[\d.]+/g);
    expect(new Set(installed)).toEqual(new Set([VERSION]));
  }, 600_000);
  afterAll(() => rmSync(project, { recursive: true }), 600_000);

  test("the types match", () => {
    run(project, "npm run typecheck");
    run(`${project}/packages/server`, "npx tsc --noEmit");
  });

  test.each([
    [".", "--project unit --project fast --project slow"],
    ["packages/server", "--project server-fast"],
  ])("the builds and tests of %s pass", HOUR, (folder, projects) => {
    const output = run(`${project}/${folder}`, `npx vitest run ${projects}`);
    expect(output).toMatch(/^ +Test Files +(\d+) passed \(\1\)$/m);
  });
});
