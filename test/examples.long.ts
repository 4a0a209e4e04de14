// Each example of `npm run add`, alone in a copy of the project.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import { afterAll, expect, test } from "vitest";
import { addExamples, EXAMPLE_NAMES } from "./support/add-examples.ts";
import { copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";

const FOLDER = copyProject({ withTests: true });
afterAll(() => rmSync(FOLDER, { recursive: true }));
run(FOLDER, "git init --quiet && git add --all && git -c user.name=a -c user.email=a commit --quiet --message a");

/** The tests that an example brings. */
const listTests = (name: string) => readdirSync(`packages/server/examples/${name}/test`).map((file) => `test/${file}`);

/** The paths of its pages. */
const listPaths = (name: string): string[] =>
  (JSON.parse(readFileSync(`packages/server/examples/${name}/package.json`, "utf8")).routes ?? []).flatMap(
    (entry: string) => /^route\("([^"]+)", "[^"]+\.tsx"/.exec(entry)?.[1] ?? [],
  );

test.each(EXAMPLE_NAMES)("a site with the example %s passes lint, types and its tests", async (name) => {
  addExamples(FOLDER, [name]);
  run(FOLDER, "npm run lint && npm run typecheck");
  // They build the site.
  run(FOLDER, `npx vitest run --project fast ${listTests(name).join(" ")}`);
  const server = await startServer({}, FOLDER);
  for (const path of listPaths(name)) expect((await fetch(`${server.url}/${path}`)).status, path).toBe(200);
  await server.stop();
  run(FOLDER, "git reset --quiet --hard && git clean --quiet --force -d");
  expect(existsSync(`${FOLDER}/${listTests(name)[0]}`)).toBe(false);
});
