import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const shared = {
  env: { NODE_ENV: "production", LOG_LEVEL: "silent" },
  globalSetup: "test/support/global-setup.ts",
  // Twice as many as cores, since tests often wait for browsers and timeouts.
  maxWorkers: 2 * availableParallelism(),
  hookTimeout: 60_000,
  // On a busy machine, the state that a test polls for takes long.
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    projects: [
      // Tests beside their subject. They need no build, server or browser, so they can run in watch mode.
      { test: { name: "unit", include: ["{app,test/fixtures}/**/*.test.{ts,tsx}"], maxWorkers: shared.maxWorkers } },
      // In threads, which start faster than processes.
      { test: { ...shared, name: "fast", include: ["test/*.test.ts"], testTimeout: 300_000, pool: "threads" } },
      { test: { ...shared, name: "long", include: ["test/*.long.ts"], testTimeout: 600_000, fileParallelism: false } },
      {
        test: { ...shared, name: "container", include: ["test/*.container.ts"], testTimeout: 900_000, globalSetup: [] },
      },
    ],
  },
});
