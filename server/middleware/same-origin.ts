import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import { isSameOrigin, type OriginSettings } from "../http/same-origin.ts";
import { toLogFields, toLogText } from "../log-fields.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Rejects cross-origin requests of browsers with an unsafe method (RFC 9110 §9.2.1), on every route. */
export function sameOrigin(settings: OriginSettings, log: Logger): RequestHandler {
  return ({ method, headers }, res, next) => {
    if (SAFE_METHODS.has(method) || isSameOrigin(headers, settings)) return next();
    const { origin, host, "sec-fetch-site": site } = headers;
    const seen = { origin, host, "sec-fetch-site": site };
    const fields = Object.fromEntries(
      Object.entries(seen).map(([name, value]) => [`http.request.header.${name}`, [toLogText(String(value))]]),
    );
    log.warn(
      { ...toLogFields(res.locals), ...fields },
      "cross-origin request rejected: if it is yours, set ORIGIN, or add its origin to TRUSTED_ORIGINS",
    );
    next(createHttpError(403));
  };
}
