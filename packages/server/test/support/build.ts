import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { COMMAND } from "./command.ts";

/** Makes a production build of a site. If it fails, rejects with its output. */
export async function build(folder: string, env = {}) {
  await promisify(execFile)(process.execPath, [COMMAND, "build"], { cwd: folder, env: { ...process.env, ...env } });
}
