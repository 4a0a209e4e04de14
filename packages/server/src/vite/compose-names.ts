import { mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** Composes the letters of the names of files, since macOS may have decomposed them, and browsers send composed ones. */
export async function composeNames(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const file of entries.filter((entry) => entry.isFile())) {
    const path = relative(folder, join(file.parentPath, file.name));
    const composed = path.normalize("NFC");
    if (composed === path) continue;
    await mkdir(dirname(join(folder, composed)), { recursive: true });
    await rename(join(folder, path), join(folder, composed));
  }
}
