import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";
import { compress } from "../http/content-coding.ts";

/** Fonts, images and videos are compressed already. */
const COMPRESSIBLE = /\.(js|css|svg|html|md|txt|json|webmanifest|xml|wasm|data)$/;

/** The variants of files, by the hash of the file: most are the same as in the last build. */
const CACHE = "node_modules/.cache/react-router-express-server";
const MAX_UNUSED_MS = 7 * 24 * 60 * 60 * 1000;

/** What this build has compressed, by the hash of the file: the server's build comes between the two passes. */
const done = new Map<string, ReturnType<typeof compressOnce>>();

let inAdvance: Promise<unknown> = Promise.resolve();

/** Compresses the browser's files while the server is built. */
export function compressInAdvance(): Plugin {
  return {
    name: "react-router-express-server:compress",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    writeBundle() {
      inAdvance = precompress("build/client").catch(() => {}); // At the end of the build, it fails again.
    },
  };
}

/** Writes `NAME.br` and `NAME.gz` beside the files of a folder, if they are smaller, so that no request compresses. */
async function precompress(folder: string) {
  await mkdir(CACHE, { recursive: true }).catch(ignoreCacheError);
  const names = await readdir(folder, { recursive: true }); // React Router removes .vite/.
  const compressFile = async (name: string) => {
    const path = join(folder, name);
    const bytes = await readFile(path);
    const { brotli, zlib } = process.versions;
    const hash = createHash("sha256").update(`${brotli} ${zlib}\n`).update(bytes).digest("hex");
    if (!done.has(hash)) done.set(hash, compressOnce(bytes, hash));
    const { br, gzip } = (await done.get(hash)) ?? {};
    await Promise.all([br && writeFile(`${path}.br`, br), gzip && writeFile(`${path}.gz`, gzip)]);
  };
  const compressible = names.filter((name) => COMPRESSIBLE.test(name) && !name.startsWith(".vite"));
  // It ends only when no file is being written any more.
  const results = await Promise.allSettled(compressible.map(compressFile));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * Compresses bytes, or reads what an earlier build has compressed. An empty file stands for a variant that isn't
 * smaller.
 */
async function compressOnce(bytes: Buffer, hash: string): Promise<{ br?: Buffer; gzip?: Buffer }> {
  const path = join(CACHE, hash);
  const now = new Date();
  try {
    const [br, gzip] = await Promise.all([readFile(`${path}.br`), readFile(`${path}.gz`)]);
    await Promise.all([utimes(`${path}.br`, now, now), utimes(`${path}.gz`, now, now)]);
    return { ...(br.length > 0 && { br }), ...(gzip.length > 0 && { gzip }) };
  } catch {
    const { br, gzip } = await compress(bytes, "best");
    const written = [writeInOneStep(`${path}.br`, br), writeInOneStep(`${path}.gz`, gzip)];
    await Promise.all(written).catch(ignoreCacheError);
    return { ...(br && { br }), ...(gzip && { gzip }) };
  }
}

/** Without the cache, each build compresses all files: the user who builds may not write to node_modules. */
const ignoreCacheError = () => {};

/** Another build may read or write the same file. */
async function writeInOneStep(path: string, bytes: Buffer = Buffer.alloc(0)) {
  const written = `${path}.${randomUUID()}`;
  await writeFile(written, bytes);
  await rename(written, path);
}

/** Writes the variants of all files, also of those that the server's build adds. */
export async function finishPrecompressing() {
  await inAdvance;
  await precompress("build/client");
  if (existsSync("build/prerendered")) await precompress("build/prerendered");
  await removeUnusedVariants();
}

/** Removes the variants that no build has used for a week. */
async function removeUnusedVariants() {
  for (const name of await readdir(CACHE).catch(() => [])) {
    const path = join(CACHE, name);
    const found = await stat(path).catch(() => undefined); // Another build may have renamed it.
    if (found && Date.now() - found.mtimeMs > MAX_UNUSED_MS) await rm(path, { force: true }).catch(ignoreCacheError);
  }
}
