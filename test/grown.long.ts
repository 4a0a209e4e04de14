// "A page is a file and a line": a copy of the project, grown as the README, CONTRIBUTING and docs/ say, passes its tests.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { growProduct } from "./support/grow-product.ts";
import { readSamples, withoutSpace } from "./support/samples.ts";

const FOLDER = await growProduct();
afterAll(() => rmSync(FOLDER, { recursive: true }));

/** The environment, without the variables that Vitest sets. */
const PASSED_ON = ["PATH", "HOME", "TMPDIR", "CHROMIUM"].map((name) => [name, process.env[name]]);
const ENV = { NO_COLOR: "1", ...Object.fromEntries(PASSED_ON.filter(([, value]) => value)) };
/** The copy has as many tests as all other files together, and the machine may be busy. */
const HOURS = { timeout: 2 * 60 * 60 * 1000 };
/** `npm test`, without the tests of the engine. */
const CHECKS = "npm run lint && npm run typecheck && npx vitest run --project unit --project fast --project slow";
/** None failed, and none was skipped. */
const FILES_PASSED = expect.stringMatching(/^ +Test Files +(\d+) passed \(\1\)$/);
const TESTS_PASSED = expect.stringMatching(/^ +Tests +(\d+) passed \(\1\)$/);
const OPTIONS = { cwd: FOLDER, env: ENV, maxBuffer: 64 * 1024 * 1024 };

test("the samples of the documents are in the files of the product that they name", () => {
  const samples = readSamples().flatMap(({ file = "", code }) => {
    const [, name] = /^product\/(.*)/.exec(file) ?? [];
    return name ? [{ name, code }] : [];
  });
  expect(samples.length).toBeGreaterThan(0);
  for (const { name, code } of samples) {
    expect.soft(withoutSpace(readFileSync(`${FOLDER}/${name}`, "utf8")), name).toContain(withoutSpace(code));
  }
});

test("a product that has grown out of the project passes its own and the project's tests", HOURS, async () => {
  await promisify(execFile)("npm", ["run", "format"], OPTIONS);
  const running = promisify(execFile)("sh", ["-c", CHECKS], OPTIONS);
  onTestFinished(() => void running.child.kill());
  const { code, stdout, stderr } = await running.then(
    (done) => ({ code: 0, ...done }),
    (error) => error,
  );
  const summary = stdout.split("\n").filter((line: string) => /^ +(Test Files|Tests) /.test(line));
  expect({ code, summary }, stdout.slice(-20_000) + stderr.slice(-20_000)).toEqual({
    code: 0,
    summary: [FILES_PASSED, TESTS_PASSED],
  });
  const listTests = (folder: string) =>
    readdirSync(`${FOLDER}/${folder}`, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.test\./.test(file))
      .map((file) => `${folder}/${file}`);
  const own = ["app", "services"].flatMap(listTests);
  expect(own).toContain("services/events.test.ts");
  for (const file of own) expect(stdout).toContain(` ${file} (`);
});
