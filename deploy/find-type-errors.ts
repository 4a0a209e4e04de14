import ts from "typescript";

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  lib: ["lib.es2020.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/**
 * Returns the compiler's errors for a manifest or dashboard as a literal of a type: unknown, missing and wrong fields.
 *
 * @param folder has the module of the type in its node_modules
 */
export function findTypeErrors(manifest: object, type: string, module: string, folder = process.cwd()) {
  const file = `${folder}/manifest.ts`;
  const source = `import type { ${type} } from "${module}";
    // JSON has the values of an enum, which TypeScript doesn't accept for it.
    type Json<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
    export const manifest: Json<${type}> = ${JSON.stringify(manifest)};`;
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile } = host;
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, source, target) : getSourceFile(name, target);
  const program = ts.createProgram([file], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}
