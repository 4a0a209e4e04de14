// Each example of `npm run add`, alone in a copy of the project.
import { readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { addExamples, checkExamples, EXAMPLE_NAMES } from "./support/add-examples.ts";
import { copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";
import { withoutSpace } from "./support/samples.ts";

const FOLDER = copyProject({ withTests: true });
afterAll(() => rmSync(FOLDER, { recursive: true }));

beforeAll(() => {
  run(FOLDER, "git init --quiet && git add --all && git -c user.name=a -c user.email=a commit --quiet --message a");
});

test.each(EXAMPLE_NAMES)("a site with the example %s passes lint, types and its tests", async (name) => {
  onTestFinished(() => void run(FOLDER, "git reset --quiet --hard && git clean --quiet --force -d"));
  addExamples(FOLDER, [name]);
  const server = withoutSpace(readFileSync(`${FOLDER}/server.ts`, "utf8"));
  const readme = readFileSync(`packages/server/examples/${name}/README.md`, "utf8");
  // A sample that names a file is compared with that one (samples.test.ts).
  for (const [, code = ""] of readme.matchAll(/```ts\n(?!\/\/ )(.*?)```/gs))
    expect(server).toContain(withoutSpace(code));
  await checkExamples(FOLDER, [name]);
});
