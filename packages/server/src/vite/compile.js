// Compiles the engine to JavaScript in dist/: few files, since Node and browsers load a hundred slowly in development.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const DIST = join(PACKAGE, "dist");

/** The modules that Vite's plugin names by their paths (vite/paths.ts). */
const NAMED = [
  "create-server",
  "pages/react-router",
  "parts/render/streams/react-router-node",
  "process/start",
  "vite/run",
];
/** Browsers load it after the first scripts of a page. In a file with what these need, it would make them larger. */
const APART = ["pages/reports-path"];

/** The modules of the package's `exports`, relative to src/. */
function listExports() {
  const targets = Object.values(JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")).exports);
  const files = targets.map((target) => target.types ?? target.default ?? target);
  return files.flatMap((file) => /^\.\/src\/(.*)\.tsx?$/.exec(file)?.[1] ?? []);
}

export async function compile() {
  const bundle = await rolldown({
    cwd: PACKAGE,
    input: Object.fromEntries([...listExports(), ...NAMED, ...APART].map((name) => [name, `./src/${name}`])),
    resolve: { extensions: [".ts", ".tsx"] },
    platform: "node",
    external: /^[^./]/,
    tsconfig: false,
  });
  const { output } = await bundle.generate({
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
  });
  await bundle.close();
  for (const file of output) write(join(DIST, file.fileName), file.type === "chunk" ? file.code : file.source);
}

/**
 * Writes a file in one step, since another process may read or write the same file.
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function write(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  const written = `${file}.${randomUUID()}`;
  writeFileSync(written, content);
  renameSync(written, file);
}
