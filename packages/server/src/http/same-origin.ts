import type { IncomingHttpHeaders } from "node:http";

/** Methods that only read (RFC 9110 §9.2.1). Browsers send TRACE to no server. */
export const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** The longest Origin that is parsed: a scheme, a host name of 253 characters (RFC 1035 §2.3.4) and a port. */
const MAX_ORIGIN_LENGTH = 300;

export type OriginSettings = { ORIGIN?: URL | undefined; TRUSTED_ORIGINS: Set<string> };

/**
 * Whether a request comes from this origin or a trusted one, by the rule of Go's http.CrossOriginProtection:
 * `Sec-Fetch-Site` must be `same-origin` or `none`. Without it, as in older browsers, the host of `Origin` must be that
 * of `ORIGIN`, or else the request's. A request with neither header isn't from a browser, so it can't misuse cookies.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, { ORIGIN, TRUSTED_ORIGINS }: OriginSettings) {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (origin !== undefined && TRUSTED_ORIGINS.has(origin)) return true;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // Only http(s): `chrome-extension://host` and `file://host` are other origins.
  if (!/^https?:/.test(origin) || origin.length > MAX_ORIGIN_LENGTH) return false;
  return URL.canParse(origin) && new URL(origin).host === (ORIGIN?.host ?? host);
}
