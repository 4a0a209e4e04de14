import { copyFile, lstat, mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** Copies the packages that the server's build imports, with their dependencies, so that `build/` runs alone. */
export async function copyPackages(names: true | string[] = []) {
  await rm("build/node_modules", { recursive: true, force: true });
  if (names !== true && names.length === 0) return;
  // From the root, since `node_modules` may be in a folder above the project, as in a workspace.
  const build = resolve("build").slice(1);
  const { fileList } = await importTracer().nodeFileTrace(["build/server/index.js"], {
    base: "/",
    // As every supported Node. On Node 20, the tracer would leave out the second.
    conditions: ["node", "module-sync"],
    // A package may read files of the machine, such as those of /etc.
    ignore: (path) => !path.startsWith(build) && !path.includes("node_modules/"),
  });
  for (const path of fileList) {
    const start = path.indexOf("node_modules/");
    if (start === -1 || (await lstat(`/${path}`)).isSymbolicLink()) continue;
    const copy = join("build", path.slice(start));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(`/${path}`, copy);
  }
}

type Options = { base: string; conditions: string[]; ignore: (path: string) => boolean };
type Tracer = { nodeFileTrace: (files: string[], options: Options) => Promise<{ fileList: Set<string> }> };

/** Only sites with external packages install it: with its own packages, it has 15 MB. */
function importTracer(): Tracer {
  try {
    return createRequire(import.meta.url)("@vercel/nft");
  } catch (cause) {
    throw new Error("externalPackages needs a package: npm install --save-dev --save-exact @vercel/nft", { cause });
  }
}
