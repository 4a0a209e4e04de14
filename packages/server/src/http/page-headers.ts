import type { Response } from "express";

const POLICY = "Content-Security-Policy";
const HASH = /'sha256-[^']+'/g;
/** With Fastly's name, and those with a prefix of Cloudflare, Netlify and Vercel. */
const SHARED_LIFETIME = /^(surrogate-control|(\w+-)?cdn-cache-control)$/i;

/**
 * Removes headers that middleware in front, such as helmet, has set, and with which the page would not work: a policy
 * that blocks the page's inline scripts and styles, and headers that the `handle` of the route adds to. `policy` is
 * that of a cached page. Without it, the page gets a nonce, which no earlier policy has.
 */
export function removeBreakingHeaders(res: Response, policy?: string) {
  const { route } = res.locals;
  const earlier = res.getHeader(POLICY);
  const hashes = policy?.match(HASH) ?? [];
  const isBlocked = policy === undefined ? !route?.isResource : !hashes.every((hash) => String(earlier).includes(hash));
  const names = new Set([...(isBlocked ? [POLICY] : []), ...Object.keys(route?.addedHeaders ?? {})]);
  const replaced = [...names].filter((name) => res.hasHeader(name));
  if (replaced.length === 0) return;
  for (const name of replaced) res.removeHeader(name);
  res.locals.replacedHeaders = replaced;
}

/** Whether a header is for shared caches alone, such as CDN-Cache-Control (RFC 9213). */
export const isSharedLifetime = (name: string) => SHARED_LIFETIME.test(name);

export function removeSharedLifetimes(res: Response) {
  for (const name of res.getHeaderNames()) if (isSharedLifetime(name)) res.removeHeader(name);
}
