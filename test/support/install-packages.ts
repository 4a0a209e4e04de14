import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { run } from "./packed-engine.ts";

/** Installs packages that the project doesn't have into a copy of it. */
export function installPackages(folder: string, packages: Record<string, string>) {
  const modules = `${folder}/node_modules`;
  const missing = Object.entries(packages).filter(([name]) => !existsSync(`${modules}/${name}`));
  if (missing.length === 0) return;
  // In a folder of their own, since npm would replace the links to the project's packages.
  const own = `${modules}/.own-${missing.map(([name]) => name.replace("/", "+")).join("-")}`;
  mkdirSync(own);
  writeFileSync(`${own}/package.json`, JSON.stringify({ dependencies: Object.fromEntries(missing) }));
  run(own, "npm install --prefer-offline --no-audit --no-fund");
  for (const [name] of missing) {
    const scope = dirname(`${modules}/${name}`);
    if (!existsSync(scope)) mkdirSync(scope);
    else if (lstatSync(scope).isSymbolicLink()) linkEach(scope);
    symlinkSync(`${own}/node_modules/${name}`, `${modules}/${name}`);
  }
}

/** Replaces a link to a folder by a folder of links: an addition would otherwise be one to the project's own folder. */
function linkEach(folder: string) {
  const target = realpathSync(folder);
  rmSync(folder);
  mkdirSync(folder);
  for (const name of readdirSync(target)) symlinkSync(`${target}/${name}`, `${folder}/${name}`);
}
