import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The environment without the variables of Vitest and of `npm run`, which would change what a command does. */
export const CLEAN_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|(NODE_ENV|LOG_LEVEL|TEST|DEV|PROD|SSR)$)/.test(name)),
);

/** Runs a command in a folder, and returns its output. If the command fails, throws an error with its output. */
export function run(cwd: string, command: string) {
  try {
    return execFileSync("sh", ["-c", command], {
      cwd,
      env: { ...CLEAN_ENV, NO_COLOR: "1" },
      encoding: "utf8",
      stdio: "pipe",
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command}\n${stdout.slice(-20_000)}\n${stderr.slice(-5000)}`);
  }
}

/** Packs the engine of a copy of the project. Returns the tarball's path. */
export function packEngine(project: string) {
  // A copy's packages are links, which npm can't replace.
  run(project, "npm ci --prefer-offline --no-audit --no-fund");
  run(project, "npm pack --workspace=packages/server");
  return join(project, readdirSync(project).find((name) => name.endsWith(".tgz")) as string);
}

/** Replaces the engine's folder in a product with a packed engine, as docs/updating.md says. */
export function replaceEngine(product: string, tarball: string) {
  rmSync(`${product}/packages`, { recursive: true });
  const { workspaces: _, ...manifest } = JSON.parse(readFileSync(`${product}/package.json`, "utf8"));
  manifest.scripts.typecheck = manifest.scripts.typecheck.replace(/ && tsc -b packages\S+/, "");
  manifest.dependencies["react-router-express-server"] = `file:${tarball}`;
  writeFileSync(`${product}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
