import type { Logger } from "pino";
import { findFile } from "./build.ts";
import type { RenderedPage } from "./render-page.ts";

const READS_HEADERS =
  "a loader or middleware of it, or around it, reads the request's headers, but the page is the same for everybody: all " +
  "get that of a client without cookies (docs/sign-in-and-forms.md)";

/** Returns what logs why the file of a page should be looked at, once for each route and reason. */
export function createDrawbackLog(log: Logger) {
  const logged = new Set<string>();
  return (routeId: string, { readsHeaders, obstacle }: RenderedPage) => {
    const reasons = [
      ...(readsHeaders ? [READS_HEADERS] : []),
      ...(obstacle === undefined ? [] : [`not kept: ${obstacle}`]),
    ];
    for (const reason of reasons.filter((reason) => !logged.has(routeId + reason))) {
      logged.add(routeId + reason);
      log.warn({ file: findFile(routeId), reason }, "page that is the same for everybody");
    }
  };
}
