import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "@react-router/dev/config";
import { compress } from "./server/http/content-coding.ts";

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
  buildEnd: () => precompress("build/client/assets"),
} satisfies Config;

/** Writes `NAME.br` and `NAME.gz`, where they are smaller, beside every file of a folder, so that no request compresses. */
async function precompress(folder: string) {
  const compressFile = async (name: string) => {
    const path = join(folder, name);
    const { br, gzip } = await compress(await readFile(path), "best");
    await Promise.all([br && writeFile(`${path}.br`, br), gzip && writeFile(`${path}.gz`, gzip)]);
  };
  await Promise.all((await readdir(folder)).map(compressFile));
}
