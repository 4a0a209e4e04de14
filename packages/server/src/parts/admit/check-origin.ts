import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import { isSameOrigin, type OriginSettings, SAFE_METHODS } from "../../http/same-origin.ts";
import { toLogFields, toLogText, withoutPrivateParts } from "../../telemetry/log-fields.ts";

/** Rejects cross-origin requests of browsers with an unsafe method (RFC 9110 §9.2.1), on every route. */
export function sameOrigin(settings: OriginSettings, log: Logger): RequestHandler {
  return ({ method, headers }, res, next) => {
    if (SAFE_METHODS.has(method) || isSameOrigin(headers, settings)) return next();
    const names = ["origin", "host", "sec-fetch-site"].filter((name) => headers[name] !== undefined);
    const fields = names.map((name) => [
      `http.request.header.${name}`,
      [toLogText(withoutPrivateParts(String(headers[name])))],
    ]);
    log.warn(
      { ...toLogFields(res), ...Object.fromEntries(fields) },
      "cross-origin request rejected: if it is yours, add its origin to TRUSTED_ORIGINS or, without Sec-Fetch-Site, set ORIGIN",
    );
    next(createHttpError(403));
  };
}

/** `checkOrigin`, except for the methods in a route's `handle.acceptsCrossOrigin`. */
export function unlessAccepted(checkOrigin: RequestHandler): RequestHandler {
  return (req, res, next) =>
    res.locals.route?.acceptsCrossOrigin.includes(req.method) ? next() : checkOrigin(req, res, next);
}
