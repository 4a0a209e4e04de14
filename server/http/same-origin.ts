import type { IncomingHttpHeaders } from "node:http";

export type OriginSettings = { ORIGIN?: URL | undefined; TRUSTED_ORIGINS: Set<string> };

/**
 * Whether a request comes from this origin, as far as a browser says, or from a trusted one. It does if the browser says
 * that it comes from this origin or from the visitor (`Sec-Fetch-Site`), or, said by older browsers, if the host of
 * `Origin` is the request's; with neither header it comes from no browser, and carries no cookie of somebody else's.
 * The rule is that of Go's http.CrossOriginProtection.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, { ORIGIN, TRUSTED_ORIGINS }: OriginSettings) {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (origin !== undefined && TRUSTED_ORIGINS.has(origin)) return true;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // An extension or a local file of the same host isn't the site.
  return /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).host === (ORIGIN?.host ?? host);
}
