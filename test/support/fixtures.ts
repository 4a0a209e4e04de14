// biome-ignore-all lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
import { existsSync, statSync } from "node:fs";
import { createTest, startServer } from "react-router-express-server/testing";
import { inject } from "vitest";

export { NOT_FOUND_MESSAGES, open } from "react-router-express-server/testing";
export { expect } from "vitest";

export const test = createTest()
  /** The build with the features' example pages. */
  .extend("examplesServer", { scope: "file" }, async ({}, { onCleanup }) => {
    const server = await startServer({}, inject("examplesFolder"));
    onCleanup(async () => void (await server.stop()));
    return server;
  });

/** The bytes of a build's assets with brotli. A file that compression doesn't make smaller is sent as it is. */
export function brotliSize(folder: string, names: string[]) {
  const files = names.map((name) => `${folder}/build/client/assets/${name}`);
  return files.reduce((sum, file) => sum + statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size, 0);
}
