import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { COMMAND } from "../test/support/command.ts";

/** A module that prints the variable when the process exits. */
const PRINT = 'data:text/javascript,process.on("exit",()=>console.log(process.env.MIMALLOC_ALLOW_THP))';

test.each(["dev", "build"])("%s runs React Router's command, and caches compiled code since Node 22.8", (command) => {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { stdout } = spawnSync(process.execPath, ["--import", PRINT, COMMAND, command, "--help"], {
    env: { ...process.env, TMPDIR: folder, MIMALLOC_ALLOW_THP: undefined },
    encoding: "utf8",
  });
  expect(stdout).toContain("react-router");
  expect(stdout).toMatch(/\n0\n$/);
  expect(existsSync(join(folder, "node-compile-cache"))).toBe("enableCompileCache" in module);
});
