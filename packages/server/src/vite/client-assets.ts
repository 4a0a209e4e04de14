import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib"; // A namespace, since Node 20 has no zstdCompress.
import { compress } from "../http/content-coding.ts";
import { DCZ_SUFFIXES, toReleasePattern } from "../parts/files/client-files.ts";
import { ASSETS_PATH } from "../site/assets.ts";

/** Fonts, images and videos are compressed already. */
const COMPRESSIBLE = /\.(js|css|svg|html|md|txt|json|webmanifest|xml|wasm)$/;

/** Writes `NAME.br` and `NAME.gz` beside the files of a folder, if they are smaller, so that no request compresses. */
export async function precompress(folder: string) {
  const names = await readdir(folder, { recursive: true });
  const compressFile = async (name: string) => {
    const path = join(folder, name);
    const { br, gzip } = await compress(await readFile(path), "best");
    await Promise.all([br && writeFile(`${path}.br`, br), gzip && writeFile(`${path}.gz`, gzip)]);
  };
  await Promise.all(names.filter((name) => COMPRESSIBLE.test(name)).map(compressFile));
}

/** Open tabs and caches may request assets of earlier releases. The build keeps so many releases, in so many bytes. */
const MAX_PREVIOUS_RELEASES = DCZ_SUFFIXES.length;
const MAX_PREVIOUS_BYTES = 8 * 1024 * 1024;

/**
 * Copies the assets of earlier releases from the build of the last one, and lists those of each release, newest first, in
 * `build/assets.json`. Their names contain a hash, so those of different releases don't clash.
 */
export async function copyPreviousAssets(previousBuild: string | undefined) {
  const releases = [await readdir("build/client/assets")];
  const list = join(previousBuild ?? "", "assets.json");
  const previous: string[][] = previousBuild && existsSync(list) ? JSON.parse(await readFile(list, "utf8")) : [];
  let bytes = 0;
  for (const names of previous.slice(0, MAX_PREVIOUS_RELEASES)) {
    const added = names.filter((name) => !releases.flat().includes(name));
    const paths = added.map((name) => join(previousBuild ?? "", "client/assets", name));
    for (const path of paths) bytes += (await stat(path)).size;
    if (bytes > MAX_PREVIOUS_BYTES) break;
    await Promise.all(paths.map((path, index) => copyFile(path, join("build/client/assets", added[index] ?? ""))));
    releases.push(names);
  }
  await writeFile("build/assets.json", JSON.stringify(releases));
  return releases;
}

/**
 * Writes `NAME.1.dcz` and `NAME.2.dcz` beside each script and style whose hash has changed, if they are smaller than brotli.
 * They hold the difference to the files of earlier releases, which returning browsers have (RFC 9842).
 */
export async function compressDifferences([names = [], ...previous]: string[][]) {
  if (previous.length > 0 && !zlib.zstdCompress) return console.log("No .dcz files: they need Node 22.19 or later.");
  const compressDifference = async (name: string) => {
    const path = join("build/client/assets", name);
    const pattern = toReleasePattern(ASSETS_PATH + name);
    if (!pattern || !existsSync(`${path}.br`)) return;
    const sameName = (other: string) => toReleasePattern(ASSETS_PATH + other) === pattern;
    const dictionaries = new Set(previous.flatMap((others) => others.find(sameName) ?? []));
    dictionaries.delete(name);
    for (const [index, dictionary] of [...dictionaries].entries()) {
      const dcz = await compressDcz(await readFile(path), await readFile(join("build/client/assets", dictionary)));
      if (dcz.length < (await stat(`${path}.br`)).size) await writeFile(path + DCZ_SUFFIXES[index], dcz);
    }
  };
  await Promise.all(names.map(compressDifference));
}

/** zstd with a dictionary, whose hash comes first (RFC 9842 §5). 19 is the highest level that fits into the 8 MB window. */
async function compressDcz(bytes: Buffer, dictionary: Buffer) {
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: 19 };
  const frame = await promisify(zlib.zstdCompress)(bytes, { dictionary, params });
  const magic = Buffer.from("5e2a4d1820000000", "hex");
  return Buffer.concat([magic, createHash("sha256").update(dictionary).digest(), frame]);
}
