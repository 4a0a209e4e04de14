import type { Express } from "express";
import type { Logger } from "pino";
import { type Handler, listHandlers, UNKNOWN_PATH } from "../list-handlers.ts";
import { acceptsCrossOrigin } from "./check-origin.ts";

type Parts = { receive: unknown; admit: unknown; collectReports: unknown[] };

/**
 * The paths behind `receive` that have a handler without `admit` in front of it. Of a router that has no `admit`, its
 * own path. Leaves out handlers of every path, such as redirects.
 */
export function findUnadmitted(app: Express, { receive, admit, collectReports }: Parts) {
  const handlers = listHandlers(app);
  const received = handlers.findIndex(({ handle }) => handle === receive);
  if (received === -1) return [];
  // Reports have a body, which `receive` admits.
  const needNone = [admit, acceptsCrossOrigin, ...collectReports];
  const paths = handlers.flatMap((handler, index) => {
    const { handle, path, mountPath } = handler;
    if (index < received || path === "" || path.includes(UNKNOWN_PATH) || needNone.includes(handle)) return [];
    if (handlers.slice(0, index).some((other) => other.handle === admit && isBehind(handler, other))) return [];
    const hasAdmit = handlers.some((other) => other.handle === admit && other.mountPath.startsWith(mountPath));
    return hasAdmit ? path : mountPath || path;
  });
  return [...new Set(paths)];
}

export function warnOfUnadmitted(app: Express, parts: Parts, log: Logger) {
  for (const path of findUnadmitted(app, parts))
    log.warn({ path }, "a handler in front has no load shedding: put admit in front of it");
}

/** Whether each request that meets a handler has met an earlier one. */
function isBehind({ path, method }: Handler, earlier: Handler) {
  const isBelow = path.startsWith(`${earlier.path}/`) && !earlier.isInRoute;
  return (path === earlier.path || isBelow) && (earlier.method === undefined || earlier.method === method);
}
