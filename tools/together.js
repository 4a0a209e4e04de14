// `node tools/together.js lint typecheck` runs scripts of package.json at the same time. Most of them use one core.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));

const runs = process.argv.slice(2).map(async (name) => {
  // npm has set PATH. Each further start of npm would add a third of a second.
  const [code] = await once(spawn(scripts[name], { shell: true, stdio: ["ignore", "inherit", "inherit"] }), "close");
  return code;
});
const codes = await Promise.all(runs);
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
