import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib"; // A namespace, since Node 20 has no zstdCompress.
import type { Config, Preset } from "@react-router/dev/config";
import { nodeFileTrace } from "@vercel/nft";
import { compress } from "./server/http/content-coding.ts";
import { ASSETS_PATH, DCZ_SUFFIXES, toReleasePattern, VARIANT_SUFFIX } from "./server/pages/client-files.ts";

/** For each option with one supported value: that value, and the reason. */
const FIXED_OPTIONS = {
  basename: ["/", "the server serves the root of its origin only"],
  buildDirectory: [resolve("build"), "the server and the Dockerfile find its files in build/"],
  prerender: [undefined, "set s-maxage in a page's headers instead (docs/caching.md)"],
  serverBundles: [undefined, "the server has one bundle"],
  serverModuleFormat: ["esm", "the server is an ES module"],
  ssr: [true, "the server renders every page"],
} as const;

const fixedOptions: Preset = {
  name: "fixed-options",
  reactRouterConfigResolved({ reactRouterConfig }) {
    for (const [name, [supported, reason]] of Object.entries(FIXED_OPTIONS)) {
      const value = reactRouterConfig[name as keyof typeof reactRouterConfig];
      if (value !== supported) throw new Error(`${name} ${JSON.stringify(value)}: ${reason}`);
    }
  },
};

/** Fails if a file in public/ has the name of a file that the build makes. */
const checkedPublicFiles: Preset = {
  name: "checked-public-files",
  reactRouterConfigResolved() {
    if (!existsSync("public")) return;
    if (existsSync("public/assets")) throw new Error("public/assets/: /assets/ is for files whose names hold a hash");
    const files = readdirSync("public", { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const names = files.map((file) => relative("public", join(file.parentPath, file.name)));
    const variant = names.find((name) => VARIANT_SUFFIX.test(name) && names.includes(name.replace(VARIANT_SUFFIX, "")));
    if (variant) throw new Error(`public/${variant} would be sent as the compressed variant of the file beside it`);
  },
};

export default {
  // The server build has several entries (vite.config.ts).
  serverBuildFile: "[name].js",
  // The browser gets all routes at once. With lazy discovery, the server matches every ancestor of a requested path, so one
  // path of 7,000 segments would block the process for seconds (React Router 7.18.4).
  routeDiscovery: { mode: "initial" },
  // Turns React Router's check off: server/middleware/same-origin.ts has checked before, also for resource routes.
  allowedActionOrigins: ["**"],
  future: {
    v8_middleware: true,
    v8_passThroughRequests: true,
    v8_splitRouteModules: true,
    v8_trailingSlashAwareDataRequests: true,
    v8_viteEnvironmentApi: true,
  },
  presets: [fixedOptions, checkedPublicFiles],
  async buildEnd({ viteConfig }) {
    await moveSourceMaps();
    await precompress("build/client");
    const releases = await copyPreviousAssets(process.env.PREVIOUS_BUILD);
    await compressDifferences(releases);
    await copyPackages(viteConfig.environments.ssr?.resolve.external);
  },
} satisfies Config;

/** Moves source maps to `build/source-maps/`: neither the site nor the image has them (docs/source-positions.mjs). */
async function moveSourceMaps() {
  await mkdir("build/source-maps", { recursive: true });
  for (const folder of ["build/client", "build/server"]) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js.map"));
    await Promise.all(names.map((name) => rename(join(folder, name), join("build/source-maps", basename(name)))));
  }
}

/** Fonts, images and videos are compressed already. */
const COMPRESSIBLE = /\.(js|css|svg|html|md|txt|json|webmanifest|xml|wasm)$/;

/** Writes `NAME.br` and `NAME.gz` beside the files of a folder, if they are smaller, so that no request compresses. */
async function precompress(folder: string) {
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
async function copyPreviousAssets(previousBuild: string | undefined) {
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
async function compressDifferences([names = [], ...previous]: string[][]) {
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

/** Copies the packages that the server's build imports, with their dependencies, so that `build/` runs alone. */
async function copyPackages(names: true | string[] = []) {
  await rm("build/node_modules", { recursive: true, force: true });
  if (names !== true && names.length === 0) return;
  // From the root, since `node_modules` may be in a folder above the project, as in a workspace.
  const { fileList } = await nodeFileTrace(["build/server/index.js"], { base: "/" });
  for (const path of fileList) {
    const start = path.indexOf("node_modules/");
    if (start === -1 || (await lstat(`/${path}`)).isSymbolicLink()) continue;
    const copy = join("build", path.slice(start));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(`/${path}`, copy);
  }
}
