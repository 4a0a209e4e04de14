import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { normalizePath } from "vite";

/** The path of a module of the engine, relative to `src/`: TypeScript here, JavaScript in a packed engine. */
export function enginePath(module: string) {
  return normalizePath(fileURLToPath(new URL(`../${module}${extname(import.meta.url)}`, import.meta.url)));
}
