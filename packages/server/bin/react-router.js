import module from "node:module";
import { dirname, resolve } from "node:path";

/** Node writes the cache when the process exits, but not when a signal ends the development server. */
export const FLUSH_AFTER_MS = 10_000;

/** Runs the site's `react-router` command in less time, with the arguments of this process. */
export function runReactRouter() {
  // Since Node 22.8, Node caches the compiled code of packages for the next command, as for Vite's own command.
  // NODE_DISABLE_COMPILE_CACHE=1 turns this off.
  module.enableCompileCache?.();
  setTimeout(() => module.flushCompileCache?.(), FLUSH_AFTER_MS).unref();
  // Without huge pages, a build uses a third less memory, and less time on some virtual machines
  // (https://github.com/microsoft/mimalloc/issues/1323).
  process.env.MIMALLOC_ALLOW_THP ??= "0";
  const require = module.createRequire(resolve("package.json"));
  const manifest = require.resolve("@react-router/dev/package.json");
  require(resolve(dirname(manifest), require(manifest).bin["react-router"]));
}
