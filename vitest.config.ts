import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Vite needs less time without huge pages (https://github.com/microsoft/mimalloc/issues/1323).
process.env.MIMALLOC_ALLOW_THP = "0";

const unit = {
  // Threads start faster than processes.
  pool: "threads" as const,
  // Twice as many as cores, since tests often wait for browsers and timeouts.
  maxWorkers: 2 * availableParallelism(),
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // On a busy machine, the state that a test polls for takes long.
  expect: { poll: { timeout: 60_000 } },
  // A build is one large file that needs no transform. A packed engine reads Vite's variables.
  server: { deps: { external: [/\/build\/server\//], inline: ["react-router-express-server"] } },
};

const production = {
  ...unit,
  env: { NODE_ENV: "production", LOG_LEVEL: "silent" },
  globalSetup: "test/support/global-setup.ts",
  testTimeout: 300_000,
};

/** One file at a time, since each takes the whole machine. */
const alone = {
  ...production,
  testTimeout: 900_000,
  hookTimeout: 300_000,
  pool: "forks" as const,
  fileParallelism: false,
};

export default defineConfig({
  test: {
    projects: [
      // They need no build, server or browser, so they can run in watch mode.
      { test: { ...unit, name: "unit", include: ["{app,services}/**/*.test.{ts,tsx}"] } },
      { test: { ...production, name: "fast", include: ["{deploy,test}/*.test.ts"] } },
      { test: { ...production, name: "slow", include: ["app/*/*.slow.ts", "{deploy,test}/*.slow.ts"] } },
      { test: { ...alone, name: "long", include: ["{deploy,test}/*.long.ts"] } },
      { test: { ...alone, name: "container", include: ["{deploy,test}/*.container.ts"], globalSetup: [] } },
    ],
  },
});
