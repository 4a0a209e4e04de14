// In this repository, nothing builds the package. Node 20 can't import TypeScript from a Vite config, so Vite loads it.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

/** @type {{ module: typeof import("./index.ts") }} */
const { module } = await runnerImport(fileURLToPath(new URL("./index.ts", import.meta.url)));

export const { server, serverPreset } = module;
