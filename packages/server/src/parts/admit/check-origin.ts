import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import { isSameOrigin, type OriginSettings, SAFE_METHODS } from "../../http/same-origin.ts";
import { toLogText, withoutPrivateParts } from "../../telemetry/log-text.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";

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

/**
 * Lets a handler in front accept cross-origin requests. It must run before `admit`, for the handler's path:
 * `app.use("/api/public", acceptsCrossOrigin, admit, api)`. A page sets `handle.acceptsCrossOrigin` instead.
 */
export const acceptsCrossOrigin: RequestHandler = (_req, res, next) => {
  res.locals.acceptsCrossOrigin = true;
  next();
};

/** `checkOrigin`, except for handlers in front, and methods of routes, that accept cross-origin requests. */
export function unlessAccepted(checkOrigin: RequestHandler): RequestHandler {
  return (req, res, next) => {
    const { acceptsCrossOrigin, route } = res.locals;
    // In front, `route` is a page whose pattern may match the handler's path, too.
    const isInFront = req.baseUrl !== "" || req.route !== undefined;
    const isAccepted = isInFront ? acceptsCrossOrigin : route?.acceptsCrossOrigin.includes(req.method);
    return isAccepted ? next() : checkOrigin(req, res, next);
  };
}
