import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installChromium } from "react-router-express-server/testing";
import type { TestProject } from "vitest/node";
import { build, copyWithExamples } from "./copy-project.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The copy of the project with the example pages, and its build. */
    examplesFolder: string;
  }
}

/** Tests run against production builds, of the project and of its copy with the example pages, in a real browser. */
export default async function setup({ provide }: TestProject) {
  installChromium();
  execFileSync(process.execPath, ["tools/run.js"]); // Once: tests would install its packages at the same time.
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  process.env.TMPDIR = folder;
  // Threads that are interrupted end without an event. This ends the processes that they have started.
  process.once("exit", () => {
    spawnSync("pkill", ["-P", String(process.pid)]);
    rmSync(folder, { recursive: true, force: true });
  });
  const examplesFolder = copyWithExamples();
  await Promise.all([build("."), build(examplesFolder)]);
  provide("examplesFolder", examplesFolder);
}
