import { parseList } from "structured-headers";

/** In seconds: how long a shared cache may send a response fresh, and then stale. */
export type SharedLifetime = { fresh: number; staleWhileRevalidate: number; staleIfError: number };

/** The heuristically cacheable statuses (RFC 9110 §15.1) that a page or a resource route returns. */
const CACHEABLE_STATUSES = [200, 301, 308, 404];
const FORBIDDING = ["no-store", "no-cache", "private"];
const NEVER_STALE = ["must-revalidate", "proxy-revalidate"];

/** Whether `Cache-Control` allows a shared cache to store the response (RFC 9111 §3). */
export function isForSharedCaches(cacheControl: string) {
  const directives = parseDirectives(cacheControl);
  return !directives.has("no-store") && directives.get("private") !== "";
}

/** Parses `Cache-Control` for a shared cache (RFC 9111 §5.2.2, RFC 5861). Undefined without a valid `s-maxage`. */
export function parseSharedLifetime(cacheControl: string): SharedLifetime | undefined {
  const directives = parseDirectives(cacheControl);
  const secondsOf = (name: string) => (/^\d+$/.test(directives.get(name) ?? "") ? Number(directives.get(name)) : 0);
  const fresh = secondsOf("s-maxage");
  if (fresh === 0 || FORBIDDING.some((name) => directives.has(name))) return undefined;
  if (NEVER_STALE.some((name) => directives.has(name))) return { fresh, staleWhileRevalidate: 0, staleIfError: 0 };
  return {
    fresh,
    staleWhileRevalidate: secondsOf("stale-while-revalidate"),
    staleIfError: secondsOf("stale-if-error"),
  };
}

/**
 * Returns the reason a response to an anonymous request isn't cacheable, if there is one. `varied` are the headers that
 * choose the variant of the page, as in `Vary`.
 */
export function findUncacheableReason(status: number, headers: Headers, varied = "") {
  const [vary, cacheControl] = [headers.get("Vary") ?? "", headers.get("Cache-Control") ?? ""];
  const known = toNames(`Accept-Encoding, ${varied}`);
  if (!CACHEABLE_STATUSES.includes(status)) return `status ${status}`;
  if (headers.has("Set-Cookie")) return "Set-Cookie";
  if (!toNames(vary).every((name) => known.includes(name))) return `Vary: ${vary}`;
  if (!parseSharedLifetime(cacheControl)) return `Cache-Control: ${cacheControl}`;
  if (!parseGroups(headers.get("Cache-Groups"))) return `Cache-Groups: ${headers.get("Cache-Groups")}`;
  return undefined;
}

/** The names of `Vary`. */
function toNames(vary: string) {
  return vary
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
}

function parseDirectives(cacheControl: string) {
  return new Map(
    cacheControl.split(",").map((directive): [string, string] => {
      const [name = "", value = ""] = directive.split("=", 2);
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
    }),
  );
}

/**
 * Parses the value of `Cache-Groups` or `Cache-Group-Invalidation`, such as `"events", "event-17"` (RFC 9875). Returns
 * undefined if it isn't a list of strings: a name without quotes is a token.
 */
export function parseGroups(value: string | null): string[] | undefined {
  try {
    const groups = parseList(value ?? "").map(([group]) => group);
    return groups.every((group) => typeof group === "string") ? groups : undefined;
  } catch {
    return undefined;
  }
}
