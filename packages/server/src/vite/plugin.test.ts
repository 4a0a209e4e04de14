import fs from "node:fs";
import { resolveConfig } from "vite";
import { expect, test, vi } from "vitest";
import { exposeSpies } from "../../test/support/expose-spies.ts";
import { server } from "./plugin.ts";

test.each([
  ["the development server watches files, and reads .env", undefined, {}, true],
  ["React Router's second server does neither in development", false, { usePolling: true }, false],
  ["React Router's second server does neither in a build", false, null, false],
] as const)("%s", async (_what, configFile, watch, isRead) => {
  const statSync = vi.spyOn(fs, "statSync");
  exposeSpies();
  const config = await resolveConfig(
    { root: import.meta.dirname, configFile, server: { watch }, plugins: server() },
    "serve",
  );
  expect(config.server.watch !== null).toBe(isRead);
  expect(statSync.mock.calls.some(([path]) => path === ".env")).toBe(isRead);
});
