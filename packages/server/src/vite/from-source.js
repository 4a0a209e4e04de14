// In this repository, Vite and the development server load the engine as JavaScript from dist/. This module writes the
// files there whenever a source has changed. Node 20 can't import TypeScript, and Vite would transform it at each
// start.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "vite";

const SRC = fileURLToPath(new URL("../", import.meta.url));
const COMPILER = fileURLToPath(new URL("compile.js", import.meta.url));
const HASH = fileURLToPath(new URL("../../dist/sources.sha256", import.meta.url));

const names = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?<!\.test|\.d)\.tsx?$/.test(name),
);
const files = [COMPILER, ...names.map((name) => join(SRC, name))];
const hash = createHash("sha256")
  .update(JSON.stringify([version, names, files.map((file) => readFileSync(file, "utf8"))]))
  .digest("hex");

if (readHash() !== hash) {
  rmSync(HASH, { force: true });
  const { compile } = await import("./compile.js");
  await compile();
  writeFileSync(HASH, hash);
}

/** Another process may be removing the file. */
function readHash() {
  try {
    return readFileSync(HASH, "utf8");
  } catch {
    return undefined;
  }
}

// `import` would evaluate them anew, and slowly: React Router's loader of its config transforms what it imports.
/** @type {typeof import("./index.ts")} */
const { server, serverPreset } = createRequire(import.meta.url)("../../dist/vite/index.js");

export { server, serverPreset };
