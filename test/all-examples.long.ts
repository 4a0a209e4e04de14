// All examples of `npm run add` together, in a copy of the project.
import { rmSync } from "node:fs";
import { afterAll, test } from "vitest";
import { addExamples, checkExamples, EXAMPLE_NAMES, testExamples } from "./support/add-examples.ts";
import { copyProject, setBase } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const FOLDER = copyProject({ withTests: true });
afterAll(() => rmSync(FOLDER, { recursive: true }));

test("a site with all examples passes lint, types and their tests", async () => {
  addExamples(FOLDER, EXAMPLE_NAMES);
  await checkExamples(FOLDER, EXAMPLE_NAMES);
  run(FOLDER, "npm run unused");
});

test("below a path, it passes their tests, too", () => {
  setBase(FOLDER, { basename: "/app/", base: "/app/" });
  run(FOLDER, "npm run format");
  testExamples(FOLDER, EXAMPLE_NAMES);
});
