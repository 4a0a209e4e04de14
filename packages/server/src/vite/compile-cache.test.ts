import module from "node:module";
import { expect, test } from "vitest";
import { serverPreset } from "./preset.ts";

test("commands keep the compiled code of packages for the next, if Node can (22.8)", () => {
  serverPreset();
  expect(module.getCompileCacheDir?.() !== undefined).toBe("enableCompileCache" in module);
});
