import { syncBuiltinESMExports } from "node:module";
import { onTestFinished, vi } from "vitest";

/** Shows the test's spies on modules of Node to named imports, too, until the test ends. */
export function exposeSpies() {
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}
