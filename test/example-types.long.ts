import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inject, test } from "vitest";

test("the types of the example pages are right", async () => {
  await promisify(execFile)("npm", ["run", "typecheck"], { cwd: inject("grownFolder") });
});
