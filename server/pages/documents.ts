import type { Logger } from "pino";
import { compress } from "../http/content-coding.ts";
import { contentSecurityPolicy } from "../http/content-security-policy.ts";
import { extendSecurityHeaders } from "../http/security-headers.ts";
import { mergeHeaders, type StoredResponse, storeResponse } from "../http/stored-response.ts";
import { build, findFile, routes } from "./build.ts";
import { createDrawbackLog } from "./drawbacks.ts";
import { type RenderOptions, renderPage } from "./render-page.ts";
import type { RouteEntry } from "./route-entry.ts";

/** For a page that says nothing of it: browsers revalidate, which a 304 makes cheap. */
const DEFAULT_CACHE_CONTROL = "public, max-age=0";

/** Throws for a route that can't be kept as it says, or whose pages can't have the headers that it adds. */
export function checkRoutes() {
  for (const { id, pattern, isRenderedOnce, hasOneDocument, kept, addedHeaders } of routes) {
    const file = findFile(id) ?? "app/root.tsx";
    try {
      extendSecurityHeaders({}, addedHeaders);
      contentSecurityPolicy({ scripts: [], styles: [] }, addedHeaders["Content-Security-Policy"]);
    } catch (error) {
      throw new Error(`${file}: handle.securityHeaders: ${(error as Error).message}`);
    }
    if (isRenderedOnce && !hasOneDocument) {
      throw new Error(`${file} can't be rendered once: the pages of ${pattern} differ`);
    }
    const hasChildren = Object.values(build.routes).some((route) => route?.parentId === id);
    if (kept && hasChildren) {
      throw new Error(
        `${file} can't say s-maxage: the pages inside it would inherit that, each has to say it for itself`,
      );
    }
  }
}

type Options = RenderOptions & { securityHeaders: Record<string, string>; log: Logger };

/**
 * Renders routes that are rendered once, by route id: each at its own pattern, since every address that it
 * matches gives the same document. Rejects when one fails, redirects, or says in a header what is one client's only.
 */
export async function renderDocuments({ securityHeaders, log, ...options }: Options) {
  const logDrawbacks = createDrawbackLog(log);
  const renderDocument = async ({ id, pattern }: RouteEntry): Promise<[string, StoredResponse]> => {
    const file = findFile(id);
    const page = await renderPage(pattern.replaceAll("?", ""), options).catch((cause) => {
      throw new Error(`${file} can't be rendered once`, { cause });
    });
    const { status, obstacle, cacheControl = DEFAULT_CACHE_CONTROL, body } = page;
    const reason = obstacle ?? (status === 200 || status === 404 ? undefined : `status ${status}`);
    if (reason !== undefined) throw new Error(`${file} can't be rendered once (${reason})`);
    logDrawbacks(id, page);
    const headers = mergeHeaders(securityHeaders, page.headers, { "Cache-Control": cacheControl });
    const bodies = { ...(await compress(body, "best")), identity: body };
    return [id, storeResponse({ ...page, headers, bodies })];
  };
  const renderedOnce = routes.filter(({ isRenderedOnce }) => isRenderedOnce);
  return new Map(await Promise.all(renderedOnce.map(renderDocument)));
}
