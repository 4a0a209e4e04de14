import { resolveConfig } from "vite";
import { expect, test } from "vitest";
import { server } from "./plugin.ts";

test.each([
  ["the development server watches files", undefined, {}, false],
  ["React Router's second server watches none in development", false, { usePolling: true }, true],
  ["React Router's second server watches none in a build", false, null, true],
] as const)("%s", async (_what, configFile, watch, isNull) => {
  const config = await resolveConfig(
    { root: import.meta.dirname, configFile, server: { watch }, plugins: server() },
    "serve",
  );
  expect(config.server.watch === null).toBe(isNull);
});
