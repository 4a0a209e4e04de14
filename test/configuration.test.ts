import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { build, copyProject } from "./support/copy-project.ts";

test("a basename is refused before anything is built", async () => {
  const folder = copyProject();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = `${folder}/react-router.config.ts`;
  writeFileSync(config, readFileSync(config, "utf8").replace("export default {", '$&\n  basename: "/shop",'));
  await expect(build(folder)).rejects.toThrow('basename "/shop": the server serves the root of its origin only');
});

test.each([
  ["public/robots.txt.gz", "public/robots.txt.gz would be sent as the compressed form of the file beside it"],
  ["public/assets/logo.png", "public/assets/: /assets/ is for files whose names hold a hash"],
])("%s is refused, since it would be sent as something else", async (name, message) => {
  const folder = copyProject();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(dirname(`${folder}/${name}`), { recursive: true });
  writeFileSync(`${folder}/${name}`, "not what it seems");
  await expect(build(folder)).rejects.toThrow(message);
});
