import { parseGroups, parseSharedLifetime } from "../../http/cache-control.ts";
import { compress, isCompressible } from "../../http/content-coding.ts";
import { isSharedLifetime } from "../../http/page-headers.ts";
import { type Bodies, copyBytes, hashContent, storeResponse } from "../../http/stored-response.ts";
import type { RouteEntry } from "../../locals.ts";
import type { CacheEntry } from "./memory.ts";
import type { SharedPage } from "./page-store.ts";

export type Effort = "best" | "fast";

/** A response of a cached route, the same for all clients. */
export type AnonymousResponse = {
  status: number;
  contentType: string | undefined;
  headers: Record<string, string>;
  body: Buffer;
  /** The body by coding, if the build has compressed it. */
  bodies?: Bodies;
  /** Whether a loader or middleware has read the request's headers, beside those of the variant. */
  readsHeaders: boolean;
  uncacheableReason: string | undefined;
};

/** The returned function compresses one page after the other, since each encoder takes memory. */
export function createCompression() {
  let compressed: Promise<unknown> = Promise.resolve();
  async function toBodies(identity: Buffer, contentType = "", effort: Effort) {
    const compressing = compressed.then(() => (isCompressible(contentType) ? compress(identity, effort) : {}));
    compressed = compressing.catch(() => {});
    const bodies = Object.entries({ ...(await compressing), identity });
    return Object.fromEntries(bodies.map(([coding, bytes]) => [coding, copyBytes(bytes)])) as Bodies;
  }
  /** If the content hasn't changed, the page gets the bodies of the one `before`. */
  return async (rendered: AnonymousResponse, effort: Effort, before?: Bodies): Promise<SharedPage> => {
    const { status, contentType, headers, body } = rendered;
    const bodies = before?.identity.equals(body)
      ? before
      : (rendered.bodies ?? (await toBodies(body, contentType, effort)));
    return parsePage({ status, contentType, headers, bodies });
  };
}

/** Parses a page's headers, which have `Cache-Control`. Throws if the page isn't cacheable. */
export function parsePage(page: Pick<SharedPage, "status" | "contentType" | "headers" | "bodies">): SharedPage {
  const { "cache-control": cacheControl = "", ...others } = page.headers;
  const all = Object.entries(others);
  const sharedLifetimes = all.filter(([name]) => isSharedLifetime(name)).flat();
  const headers = Object.fromEntries(all.filter(([name]) => !isSharedLifetime(name)));
  const lifetime = parseSharedLifetime(cacheControl);
  const groups = parseGroups(headers["cache-groups"] ?? null);
  if (!lifetime || !groups) throw new Error("a response that isn't cacheable");
  const contentHash = hashContent(page.bodies.identity);
  return { ...page, headers, cacheControl, sharedLifetimes, lifetime, groups, contentHash };
}

/** Creates the cache entry of a page. */
export function createEntry(page: SharedPage, route: RouteEntry, renderedAt: number): CacheEntry {
  const { status, contentType, headers, contentHash, bodies, cacheControl, sharedLifetimes, lifetime, groups } = page;
  const vary = route.cacheRule?.variants?.vary;
  const response = storeResponse({ status, contentType, headers, bodies, contentHash, vary });
  return { response, cacheControl, sharedLifetimes, bodies, lifetime, groups, route: route.pattern, renderedAt };
}
