// `node tools/together.js lint typecheck` runs scripts of package.json at the same time. Most of them use one core.
import { spawn } from "node:child_process";
import { once } from "node:events";

const runs = process.argv.slice(2).map(async (name) => {
  const options = { stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" };
  const [code] = await once(spawn("npm", ["run", name], options), "close");
  return code;
});
const codes = await Promise.all(runs);
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
