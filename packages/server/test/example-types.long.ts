import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "vitest";
import { SITE } from "./support/site.ts";

test("the types of the example pages are right", async () => {
  await promisify(execFile)("npm", ["run", "typecheck"], { cwd: SITE });
});
