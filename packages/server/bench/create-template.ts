import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import engine from "../package.json" with { type: "json" };
import { SITE } from "../test/support/site.ts";

const { "@react-router/node": version, react, vite } = engine.devDependencies;
const { isbot } = engine.dependencies;
/** The packages of React Router's template that a server with two pages needs. */
const TEMPLATE = {
  "@react-router/dev": version,
  "@react-router/node": version,
  "@react-router/serve": version,
  "react-router": version,
  react,
  "react-dom": react,
  isbot,
  vite,
};

/** Installs the same two pages as React Router's template has them. Returns their folder. */
export async function createTemplate(packages: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "template-"));
  cpSync(join(import.meta.dirname, "template"), folder, { recursive: true });
  cpSync(join(SITE, "app/app.css"), join(folder, "app/app.css"));
  const dependencies = { ...TEMPLATE, ...packages };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", dependencies }));
  await install(folder);
  return folder;
}

export async function install(folder: string) {
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder });
}
