import { rmSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { installChromium } from "./chromium.ts";
import { build, copyAndGrow } from "./copy-project.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The copy of the project that has the example pages, built. */
    grownFolder: string;
  }
}

/** Tests run against production builds, of the project and of its copy with the example pages, in a real browser. */
export default async function setup({ provide }: TestProject) {
  installChromium();
  const grownFolder = copyAndGrow();
  process.once("exit", () => rmSync(grownFolder, { recursive: true, force: true }));
  await Promise.all([build("."), build(grownFolder)]);
  provide("grownFolder", grownFolder);
}
