import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Open tabs and caches may request assets of earlier releases. The build keeps so many releases, in so many bytes. */
const MAX_PREVIOUS_RELEASES = 2;
const MAX_PREVIOUS_BYTES = 8 * 1024 * 1024;

/**
 * Copies the assets of earlier releases from the build of the last one, and lists those of each release, newest first,
 * in `build/assets.json`. Their names contain a hash, so those of different releases don't clash.
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
}
