import module from "node:module";

/** Node writes the cache when the process exits, but not when a signal ends the development server. */
export const FLUSH_AFTER_MS = 10_000;

/**
 * Keeps the compiled code of packages for the next command, since Node 22.8, as Vite's own command does: React Router's
 * command loads Babel, Tailwind and others each time. `NODE_DISABLE_COMPILE_CACHE=1` turns this off.
 */
export function keepCompiledCode() {
  module.enableCompileCache?.();
  setTimeout(() => module.flushCompileCache?.(), FLUSH_AFTER_MS).unref();
}
