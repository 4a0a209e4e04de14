import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";

test.each([
  ['basename: "/shop"', 'basename "/shop": must begin and end in "/", such as "/app/"'],
  ['buildDirectory: "dist"', "the server and the Dockerfile find its files in build/"],
  ['serverBundles: () => "one"', "the server has one bundle"],
  ['serverModuleFormat: "cjs"', "the server is an ES module"],
  ["ssr: false", "ssr false: the server renders every page"],
])("%s is refused before anything is built", async (option, message) => {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = `${folder}/react-router.config.ts`;
  writeFileSync(config, readFileSync(config, "utf8").replace("export default {", `$&\n  ${option},`));
  await expect(build(folder)).rejects.toThrow(message);
});

test.each([
  ['basename: "/shop/"', "", 'base "/" of vite.config.ts: must be "/shop/", as basename'],
  ["", 'base: "/shop/"', 'base "/shop/" of vite.config.ts: must be "/", as basename'],
  ['basename: "/shop/"', 'base: "/shops/"', 'base "/shops/" of vite.config.ts: must be "/shop/", as basename'],
  ["", 'base: "./"', 'base "./" of vite.config.ts: must be "/", as basename'],
])("the build fails if React Router has {%s} and Vite {%s}", async (basename, base, message) => {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, start, option] of [
    ["react-router.config.ts", "export default {", basename],
    ["vite.config.ts", "defineConfig({", base],
  ] as const) {
    const text = readFileSync(`${folder}/${name}`, "utf8");
    writeFileSync(`${folder}/${name}`, text.replace(start, `${start}\n  ${option && `${option},`}`));
  }
  await expect(build(folder)).rejects.toThrow(message);
});

test.each([
  ["public/robots.txt.gz", "public/robots.txt.gz would be sent as the compressed variant of the file beside it"],
  ["public/assets/logo.png", "public/assets/: /assets/ is for files whose names hold a hash"],
])("the build rejects %s: its path is reserved for generated files", async (name, message) => {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(dirname(`${folder}/${name}`), { recursive: true });
  writeFileSync(`${folder}/${name}`, "not what it seems");
  await expect(build(folder)).rejects.toThrow(message);
});
