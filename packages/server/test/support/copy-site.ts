import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SITE } from "./site.ts";

const NEVER_COPIED = [".env", ".react-router", "build", "film.mp4", "node_modules"];
const NODE_MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

/** Copies the site to a new folder, which tests may edit. Its packages are links. */
export function copySite() {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  cpSync(SITE, folder, { recursive: true, filter: (path) => !NEVER_COPIED.includes(basename(path)) });
  mkdirSync(join(folder, "node_modules"));
  // The folder has Vite's cache, so it is the copy's own. In development, Vite serves the framework's entry, so that isn't
  // a link: Vite serves no file from outside the project.
  for (const name of readdirSync(NODE_MODULES)) {
    const [from, to] = [join(NODE_MODULES, name), join(folder, "node_modules", name)];
    if (name === "@react-router") cpSync(from, to, { recursive: true });
    else if (name !== ".vite") symlinkSync(from, to);
  }
  return folder;
}
