import type { RequestTarget } from "../../http/request-target.ts";
import type { RouteEntry } from "../../locals.ts";
import type { Pages } from "../../site/pages.ts";
import type { ClientFiles } from "./client-files.ts";

/**
 * The returned function returns another spelling of a request's path, if the browser has to go there: its router would
 * print another path than the server's, or find another page.
 * - "/100%" can't be decoded, and the server has "/100%25" in its place; for "/%61bout", it has "/about". A page with a
 *   cache key doesn't print its path.
 * - "/zoe%CC%88" has a letter and a combining mark, as macOS writes file names, and only the composed letter (NFC) has
 *   the file or the page.
 */
export function createFindSpelling(files: Pick<ClientFiles, "has">, findRoute: Pages["findRoute"]) {
  return ({ path, isRespelled }: RequestTarget, route: RouteEntry | undefined) => {
    // Only pages have an address, not their data. A browser would take the first segment behind two slashes for a host.
    if (!(isRespelled || path.includes("%")) || path.endsWith(".data") || path.startsWith("//")) return undefined;
    if (isRespelled) return route && !route.isResource && route.cacheKey === undefined ? path : undefined;
    const composed = path.split("/").map(compose).join("/");
    if (composed === path) return undefined;
    const isFound = files.has(decodeURIComponent(composed)) || findRoute(composed)?.route.id !== route?.id;
    return isFound ? composed : undefined;
  };
}

/** More combining marks than in any text (UAX #15 §13): to compose them takes time in proportion to their square. */
const TOO_MANY_MARKS = /\p{M}{31}/u;

function compose(segment: string) {
  const decoded = decodeURIComponent(segment);
  if (TOO_MANY_MARKS.test(decoded)) return segment;
  const composed = decoded.normalize();
  return composed === decoded ? segment : encodeURIComponent(composed);
}
