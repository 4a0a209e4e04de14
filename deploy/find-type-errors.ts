import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const TSC = [join(process.cwd(), "node_modules/typescript/bin/tsc"), "--pretty", "false", "--noEmit", "--skipLibCheck"];
const OPTIONS = ["--lib", "es2020", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""];

/**
 * Returns the compiler's errors for a manifest or dashboard as a literal of a type: unknown, missing and wrong fields.
 *
 * @param folder has the module of the type in its node_modules
 */
export function findTypeErrors(manifest: object, type: string, module: string, folder: string) {
  const source = `import type { ${type} } from "${module}";
    // JSON has the values of an enum, which TypeScript doesn't accept for it.
    type Json<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
    export const manifest: Json<${type}> = ${JSON.stringify(manifest)};`;
  writeFileSync(`${folder}/manifest.ts`, source);
  const { status, stdout } = spawnSync(process.execPath, [...TSC, ...OPTIONS, "manifest.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  const errors = stdout.split(/\n(?=manifest\.ts)/).filter(Boolean);
  if (status !== 0 && errors.length === 0) throw new Error(`tsc ended with ${status}`);
  return errors;
}
