// npm ignores publishConfig.exports. So `publish` points the manifest's exports to dist/, and `restore` puts it back.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const MANIFEST = "package.json";
const ORIGINAL = "package.json.orig";

/** @param {string | { types?: string, default: string }} target */
function toDist(target) {
  const source = typeof target === "string" ? target : (target.types ?? target.default);
  const file = source.replace("./src/", "./dist/").replace(/\.tsx?$/, "");
  return file === source ? target : { types: `${file}.d.ts`, default: `${file}.js` };
}

if (process.argv[2] === "publish") {
  const text = readFileSync(MANIFEST, "utf8");
  const manifest = JSON.parse(text);
  manifest.exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([path, target]) => [path, toDist(target)]),
  );
  writeFileSync(ORIGINAL, text);
  writeFileSync(MANIFEST, JSON.stringify(manifest, undefined, 2));
} else if (existsSync(ORIGINAL)) renameSync(ORIGINAL, MANIFEST);
