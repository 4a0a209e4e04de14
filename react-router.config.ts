import { existsSync, readdirSync } from "node:fs";
import { copyFile, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Config, Preset } from "@react-router/dev/config";
import { nodeFileTrace } from "@vercel/nft";
import { compress } from "./server/http/content-coding.ts";

/** The options that this server supports with one value only, and why. */
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

/** What is in public/ is sent as it is: no file of it may look like one that the build makes. */
const checkedPublicFiles: Preset = {
  name: "checked-public-files",
  reactRouterConfigResolved() {
    if (!existsSync("public")) return;
    if (existsSync("public/assets")) throw new Error("public/assets/: /assets/ is for files whose names hold a hash");
    const files = readdirSync("public", { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const names = files.map((file) => relative("public", join(file.parentPath, file.name)));
    const form = names.find((name) => /\.(br|gz)$/.test(name) && names.includes(name.slice(0, name.lastIndexOf("."))));
    if (form) throw new Error(`public/${form} would be sent as the compressed form of the file beside it`);
  },
};

export default {
  // The server build has two entries (vite.config.ts).
  serverBuildFile: "[name].js",
  // The browser gets the whole route list at once: with lazy discovery the server matches every
  // ancestor of an asked path, so one long address would block the process for seconds.
  routeDiscovery: { mode: "initial" },
  // The server's own rule covers resource routes too, and comes first (server/middleware/same-origin.ts).
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
    await precompress("build/client");
    await copyPreviousAssets(process.env.PREVIOUS_BUILD);
    await copyPackages(viteConfig.environments.ssr?.resolve.external);
  },
} satisfies Config;

/** Fonts, pictures and films are compressed already. */
const COMPRESSIBLE = /\.(js|css|svg|html|md|txt|json|webmanifest|xml|wasm|map)$/;

/** Writes `NAME.br` and `NAME.gz`, where they are smaller, beside the files of a folder, so that no request compresses. */
async function precompress(folder: string) {
  const names = await readdir(folder, { recursive: true });
  const compressFile = async (name: string) => {
    const path = join(folder, name);
    const { br, gzip } = await compress(await readFile(path), "best");
    await Promise.all([br && writeFile(`${path}.br`, br), gzip && writeFile(`${path}.gz`, gzip)]);
  };
  await Promise.all(names.filter((name) => COMPRESSIBLE.test(name)).map(compressFile));
}

/** Open tabs and caches may request the assets of this many releases before this one, within a number of bytes. */
const MAX_PREVIOUS_RELEASES = 2;
const MAX_PREVIOUS_BYTES = 8 * 1024 * 1024;

/**
 * Copies the assets of earlier releases from the build of the last one, and lists each release's in `build/assets.json`,
 * newest first. Their names are hashes, so those of different releases don't clash.
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
}

/** Copies what the server build still imports, and what that needs, so that `build/` runs alone. */
async function copyPackages(names: true | string[] = []) {
  await rm("build/node_modules", { recursive: true, force: true });
  if (names !== true && names.length === 0) return;
  // From the root: a package may be a link to a folder outside the project.
  const { fileList } = await nodeFileTrace(["build/server/index.js"], { base: "/" });
  for (const path of fileList) {
    const start = path.indexOf("node_modules/");
    if (start === -1 || (await lstat(`/${path}`)).isSymbolicLink()) continue;
    const copy = join("build", path.slice(start));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(`/${path}`, copy);
  }
}
