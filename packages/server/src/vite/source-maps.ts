import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Plugin } from "vite";
import { enginePath } from "./paths.ts";

/** Makes source maps lead to the engine's TypeScript (from-source.js): Vite doesn't read the maps of its input. */
export function engineSourceMaps(): Plugin {
  const folder = dirname(enginePath("index"));
  return {
    name: "react-router-express-server:engine-source-maps",
    apply: "build",
    load: {
      filter: { id: { include: /\/dist\/.*\.js$/, exclude: /\/node_modules\// } },
      async handler(id) {
        if (!id.startsWith(folder) || !existsSync(`${id}.map`)) return null;
        const [code, map] = await Promise.all([readFile(id, "utf8"), readFile(`${id}.map`, "utf8")]);
        return { code, map };
      },
    },
  };
}

/** Moves source maps to `build/source-maps/`: neither the site nor the image has them (bin/source-positions.js). */
export async function moveSourceMaps() {
  await mkdir("build/source-maps", { recursive: true });
  for (const folder of ["build/client", "build/server"]) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js.map"));
    await Promise.all(names.map((name) => rename(join(folder, name), join("build/source-maps", basename(name)))));
  }
}
