import type { Logger } from "pino";
import { mergeHeaders, sendStored, storeResponse } from "../http/stored-response.ts";
import { findFile } from "../pages/build.ts";
import { findDrawbacks, type RenderedPage, type RenderOptions, renderPage } from "../pages/render-page.ts";
import type { Middleware } from "./chain.ts";

type Options = RenderOptions & { securityHeaders: Record<string, string>; log: Logger };

/**
 * In development, in place of the page cache: pages that are the same for everybody are rendered for each request, but
 * in nobody's name, as those that are kept. Warns once of what production would warn of.
 */
export function developmentPages({ securityHeaders, log, ...options }: Options): Middleware {
  const warned = new Set<string>();
  return (req, res, next) => {
    const { route, target } = res.locals;
    if (!(route?.kept || route?.isPrerendered) || (req.method !== "GET" && req.method !== "HEAD")) return next();
    const send = (page: RenderedPage) => {
      for (const reason of findDrawbacks(page)) {
        if (!warned.has(route.id + reason))
          log.warn({ file: findFile(route.id), reason }, "page that is the same for everybody");
        warned.add(route.id + reason);
      }
      if (page.obstacle !== undefined) return next();
      const headers = mergeHeaders(securityHeaders, page.headers);
      sendStored(req, res, storeResponse({ ...page, headers, bodies: { identity: page.body } }));
    };
    const query = route.kept?.filterQuery(target.query) ?? "";
    // What fails is rendered again, for the request alone, and shows there with its stack.
    renderPage(target.path + query, options)
      .then(send, () => next())
      .catch(next);
  };
}
