import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Makes a production build of a site. If it fails, rejects with its output. */
export async function build(folder: string, env = {}) {
  await promisify(execFile)("npx", ["react-router", "build"], { cwd: folder, env: { ...process.env, ...env } });
}
