import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compress } from "../http/content-coding.ts";

/** Writes `NAME.br` and `NAME.gz` beside every file of a folder, so that no request compresses. */
export async function precompress(folder: string) {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => {
        const path = join(file.parentPath, file.name);
        const { br, gzip } = await compress(await readFile(path));
        await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gzip)]);
      }),
  );
}
