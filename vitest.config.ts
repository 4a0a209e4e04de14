import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "test/global-setup.ts",
    env: { NODE_ENV: "production", LOG_LEVEL: "silent" },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "fast", include: ["test/*.test.ts"] } },
      {
        extends: true,
        test: { name: "long", include: ["test/*.long.ts"], testTimeout: 600_000, fileParallelism: false },
      },
      { extends: true, test: { name: "container", include: ["test/*.container.ts"], testTimeout: 900_000 } },
    ],
  },
});
