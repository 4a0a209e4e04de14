import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Vite needs less time without huge pages (https://github.com/microsoft/mimalloc/issues/1323).
process.env.MIMALLOC_ALLOW_THP = "0";

const unit = {
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
  // Threads start faster than processes. Unit tests measure the memory of theirs.
  pool: "threads" as const,
};

export default defineConfig({
  test: {
    projects: [
      // They need no build, server or browser, so they can run in watch mode.
      {
        test: {
          ...unit,
          name: "server-unit",
          include: ["{bin,src,test/site}/**/*.test.{ts,tsx}"],
          // The files of a process load each module once, and must leave nothing behind.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
          unstubGlobals: true,
        },
      },
      { test: { ...production, name: "server-fast", include: ["test/*.test.ts"] } },
      { test: { ...production, name: "server-slow", include: ["test/*.slow.ts"] } },
      // One file at a time, since each takes the whole machine.
      {
        test: {
          ...production,
          name: "server-long",
          include: ["test/*.long.ts"],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          pool: "forks",
          fileParallelism: false,
          maxConcurrency: 2,
        },
      },
    ],
  },
});
