import { mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Composes the letters of the names of files, since macOS may have decomposed them, and browsers send composed ones. */
export async function composeNames(folder: string) {
  for (const name of await readdir(folder, { recursive: true })) {
    const composed = join(folder, name.normalize("NFC"));
    if (composed === join(folder, name)) continue;
    await mkdir(dirname(composed), { recursive: true });
    await rename(join(folder, name), composed);
  }
}
