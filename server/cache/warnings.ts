import type { Logger } from "pino";
import { findFile } from "../pages/build.ts";
import type { AnonymousResponse } from "./render-anonymously.ts";

const READS_HEADERS =
  "a loader or middleware of the route or its parents reads the request's headers, but a cached response is rendered without " +
  "cookies and client headers (docs/caching.md)";

/** Returns a function that logs cache warnings, once for each route and kind of reason. */
export function createWarningLog(log: Logger) {
  const logged = new Set<string>();
  return (routeId: string, { readsHeaders, uncacheableReason }: AnonymousResponse) => {
    const reasons = [
      ...(readsHeaders ? [READS_HEADERS] : []),
      ...(uncacheableReason === undefined ? [] : [`not cacheable: ${uncacheableReason}`]),
    ];
    for (const reason of reasons) {
      const key = routeId + reason.split(": ", 2).join(); // Without the header's value, which may differ each time.
      if (logged.has(key)) continue;
      logged.add(key);
      log.warn({ file: findFile(routeId), reason }, "cache warning");
    }
  };
}
