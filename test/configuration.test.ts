import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { build, copyProject } from "./support/copy-project.ts";

test("a basename is refused before anything is built", async () => {
  const folder = copyProject();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = `${folder}/react-router.config.ts`;
  writeFileSync(config, readFileSync(config, "utf8").replace("export default {", '$&\n  basename: "/shop",'));
  await expect(build(folder)).rejects.toThrow('basename "/shop": the server serves the root of its origin only');
});
