import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";

/** Moves source maps to `build/source-maps/`: neither the site nor the image has them (bin/source-positions.js). */
export async function moveSourceMaps() {
  await mkdir("build/source-maps", { recursive: true });
  for (const folder of ["build/client", "build/server"]) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js.map"));
    await Promise.all(names.map((name) => rename(join(folder, name), join("build/source-maps", basename(name)))));
  }
}
