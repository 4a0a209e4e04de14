// In this repository, Vite and the development server load the engine as JavaScript from dist/. This module writes the
// files there whenever a source has changed. Node 20 can't import TypeScript, and Vite would transform it at each
// start.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformWithOxc, version } from "vite";

const SRC = fileURLToPath(new URL("../", import.meta.url));
const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const HASH = join(DIST, "sources.sha256");

const names = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?<!\.test|\.d)\.tsx?$/.test(name),
);
const sources = names.map((name) => ({ name, text: readFileSync(join(SRC, name), "utf8") }));
const hash = createHash("sha256")
  .update(JSON.stringify([version, sources, readFileSync(fileURLToPath(import.meta.url), "utf8")]))
  .digest("hex");

if (readHash() !== hash) {
  rmSync(HASH, { force: true });
  await Promise.all(sources.map(compile));
  write(HASH, hash);
}

/** Another process may be removing the file. */
function readHash() {
  try {
    return readFileSync(HASH, "utf8");
  } catch {
    return undefined;
  }
}

/** @param {{ name: string, text: string }} source */
async function compile({ name, text }) {
  const { code, map } = await transformWithOxc(text, join(SRC, name), {
    tsconfig: false,
    target: "es2023",
    jsx: { runtime: "automatic" },
    typescript: { rewriteImportExtensions: "rewrite", onlyRemoveTypeImports: true },
  });
  const file = join(DIST, name.replace(/\.tsx?$/, ".js"));
  mkdirSync(dirname(file), { recursive: true });
  write(`${file}.map`, JSON.stringify(map));
  write(file, code);
}

/**
 * Writes a file in one step, since another process may read or write the same file.
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  const written = `${file}.${randomUUID()}`;
  writeFileSync(written, text);
  renameSync(written, file);
}

// `import` would evaluate them anew, and slowly: React Router's loader of its config transforms what it imports.
/** @type {typeof import("./index.ts")} */
const { server, serverPreset } = createRequire(import.meta.url)("../../dist/vite/index.js");

export { server, serverPreset };
