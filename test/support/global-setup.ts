import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installChromium } from "react-router-express-server/testing";
import type { TestProject } from "vitest/node";
import { build, copyWithExamples } from "./copy-project.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The copy of the project with the example pages, and its build. The project `fast` has none. */
    examplesFolder: string;
  }
}

/**
 * Tests run against production builds in a real browser: of the project and, except in the project `fast`, of its copy
 * with the example pages.
 */
export default async function setup({ name, provide }: TestProject) {
  installChromium();
  execFileSync(process.execPath, ["tools/run.js"]); // Once: tests would install its packages at the same time.
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  process.env.TMPDIR = folder;
  // Threads that are interrupted end without an event. This ends the processes that they have started.
  process.once("exit", () => {
    spawnSync("pkill", ["-P", String(process.pid)]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (name === "fast") return build(".");
  const examplesFolder = copyWithExamples();
  await Promise.all([build("."), build(examplesFolder)]);
  provide("examplesFolder", examplesFolder);
}
