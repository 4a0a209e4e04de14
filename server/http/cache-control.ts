/** For how many seconds a shared cache may use a response, and then go on using it while it gets a new one. */
export type SharedLifetime = { fresh: number; staleWhileRevalidate: number; staleIfError: number };

/** Of RFC 9110 §15.1, those that a page gives. */
const KEPT_STATUSES = [200, 301, 308, 404];
const FORBIDDING = ["no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate"];

/** Whether `Cache-Control` lets a shared cache store a response that is cacheable at all (RFC 9111 §3). */
export function isForSharedCaches(cacheControl: string) {
  const directives = parseDirectives(cacheControl);
  return !directives.has("no-store") && directives.get("private") !== "";
}

/** What `Cache-Control` allows a shared cache (RFC 9111 §5.2.2.10, RFC 5861); nothing without a valid `s-maxage`. */
export function parseSharedLifetime(cacheControl: string): SharedLifetime | undefined {
  const directives = parseDirectives(cacheControl);
  const secondsOf = (name: string) => (/^\d+$/.test(directives.get(name) ?? "") ? Number(directives.get(name)) : 0);
  const fresh = secondsOf("s-maxage");
  if (fresh === 0 || FORBIDDING.some((name) => directives.has(name))) return undefined;
  return {
    fresh,
    staleWhileRevalidate: secondsOf("stale-while-revalidate"),
    staleIfError: secondsOf("stale-if-error"),
  };
}

/** Why a response is one client's only, or says nothing of the next request. */
export function findObstacle({ status, headers }: Response) {
  const [vary, cacheControl] = [headers.get("Vary"), headers.get("Cache-Control")];
  if (!KEPT_STATUSES.includes(status)) return `status ${status}`;
  if (headers.has("Set-Cookie")) return "Set-Cookie";
  if (vary !== null && vary.toLowerCase() !== "accept-encoding") return `Vary: ${vary}`;
  if (/\b(private|no-store|no-cache)\b/i.test(cacheControl ?? "")) return `Cache-Control: ${cacheControl}`;
  return undefined;
}

function parseDirectives(cacheControl: string) {
  return new Map(
    cacheControl.split(",").map((directive): [string, string] => {
      const [name = "", value = ""] = directive.split("=", 2);
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
    }),
  );
}
