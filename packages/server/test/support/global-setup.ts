import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installChromium } from "react-router-express-server/testing";
import { build } from "./build.ts";
import { FILM_BYTES } from "./film.ts";
import { SITE } from "./site.ts";

/** Tests run against a production build of the site, in a real browser. */
export default async function setup() {
  installChromium();
  const folder = mkdtempSync(join(tmpdir(), "server-"));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user.
  process.env.TMPDIR = folder;
  // Threads that are interrupted end without an event. This ends the processes that they have started.
  process.once("exit", () => {
    spawnSync("pkill", ["-P", String(process.pid)]);
    rmSync(folder, { recursive: true, force: true });
  });
  const film = `${SITE}/public/film.mp4`;
  if (statSync(film, { throwIfNoEntry: false })?.size !== FILM_BYTES)
    writeFileSync(film, Buffer.alloc(FILM_BYTES, "0123456789"));
  await build(SITE);
}
