import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
const MAX_FIELD_LENGTH = 256;

/**
 * Rejects what a browser sends across origins with a method that isn't safe (RFC 9110 §9.2.1), on every route. A
 * request passes if the browser says that it comes from this origin or from the visitor (`Sec-Fetch-Site`), or, said
 * by older browsers, if the host of `Origin` is the request's; with neither header it comes from no browser, and
 * carries no cookie of somebody else's. Trusted origins pass. The rule is that of Go's http.CrossOriginProtection.
 */
export function sameOrigin(trustedOrigins: Set<string>, log: Logger): RequestHandler {
  return ({ method, headers }, res, next) => {
    const { origin, host, "sec-fetch-site": site } = headers;
    const isSameOrigin =
      site === undefined ? origin === undefined || hostOf(origin) === host : site === "same-origin" || site === "none";
    if (SAFE_METHODS.has(method) || isSameOrigin || (origin !== undefined && trustedOrigins.has(origin))) return next();
    const seen = { origin, host, "sec-fetch-site": site };
    const fields = Object.fromEntries(
      Object.entries(seen).map(([name, value]) => [name, String(value).slice(0, MAX_FIELD_LENGTH)]),
    );
    log.warn(
      { requestId: res.locals.requestId, headers: fields },
      "cross-origin request rejected: is the host that the client sees in ORIGIN, and this origin in TRUSTED_ORIGINS?",
    );
    next(createHttpError(403));
  };
}

function hostOf(origin: string) {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
