import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { COMMAND } from "./support/command.ts";
import { copySite } from "./support/copy-site.ts";
import { withoutKnownWarnings } from "./support/known-warnings.ts";

test("a build writes no warning", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [COMMAND, "build"], { cwd: copySite() });
  expect(withoutKnownWarnings(stderr.split("\n"))).toEqual([]);
  expect(stdout.split("\n").filter((line) => /warn|deprecated|\[[A-Z_]+\]/i.test(line))).toEqual([]);
});
