import module from "node:module";
import { expect, test } from "vitest";
import { serverPreset } from "./preset.ts";

test.skipIf(!module.enableCompileCache)("commands keep the compiled code of packages for the next", () => {
  serverPreset();
  expect(module.getCompileCacheDir()).toBeDefined();
});
