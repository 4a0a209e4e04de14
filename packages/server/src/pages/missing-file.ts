import { IS_SERVER } from "./environment.ts";
import { sendErrorReport } from "./report-error.ts";

/** A younger page isn't reloaded, so that a file that is missing for good doesn't reload the page for ever. */
const MIN_AGE_MS = 60_000;

const failures = new WeakSet<Error>();
let typedInto: Node | undefined;

if (!IS_SERVER) {
  // Vite dispatches this event for each `import()` that fails, even if the caller handles the error.
  addEventListener("vite:preloadError", ({ payload }) => {
    failures.add(payload);
    sendErrorReport(payload);
  });
  addEventListener("input", ({ target }) => {
    typedInto = target as Node;
  });
}

/**
 * For errors that nothing has handled: reloads the page if an `import()` failed, since after a release, an old tab's
 * file may be gone. If the page still shows what the user has typed, it stays.
 */
export function reloadOldTab(error: unknown) {
  if (!failures.has(error as Error) || typedInto?.isConnected) return;
  if (navigator.onLine && performance.now() > MIN_AGE_MS) location.reload();
}
