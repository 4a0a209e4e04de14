import type { Request, Response } from "express";
import type { Logger } from "pino";
import type { Base } from "../site/base-path.ts";
import { toLogFields } from "../telemetry/request-log-fields.ts";

/**
 * Returns a function that logs, once, if middleware has changed the URL of a request too late: `receive` has found its
 * route and limits, and React Router's adapter reads `originalUrl`.
 */
export function createUrlCheck(log: Logger, { path }: Base) {
  let hasWarned = false;
  return ({ baseUrl, url, originalUrl }: Request, res: Response) => {
    if (url === (originalUrl.slice(path.length - 1) || "/") || baseUrl !== "" || hasWarned) return;
    hasWarned = true;
    log.warn(
      toLogFields(res),
      "change of req.url ignored: redirect or, for a language or a cookie, set handle.variants (docs/caching.md)",
    );
  };
}

export type CheckUrl = ReturnType<typeof createUrlCheck>;
