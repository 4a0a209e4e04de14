import type { Logger } from "pino";
import { mergeHeaders, sendStored, storeResponse } from "../http/stored-response.ts";
import { createDrawbackLog } from "../pages/drawbacks.ts";
import { type RenderedPage, type RenderOptions, renderPage } from "../pages/render-page.ts";
import type { Middleware } from "./chain.ts";

type Options = RenderOptions & { securityHeaders: Record<string, string>; log: Logger };

/**
 * In development, in place of the page cache: pages that are the same for everybody are rendered for each request, but
 * in nobody's name, as those that are kept. Warns once of what production would warn of.
 */
export function developmentPages({ securityHeaders, log, ...options }: Options): Middleware {
  const logDrawbacks = createDrawbackLog(log);
  return (req, res, next) => {
    const { route, target, canonicalPath } = res.locals;
    if (!(route?.kept || route?.isRenderedOnce) || (req.method !== "GET" && req.method !== "HEAD")) return next();
    const send = (page: RenderedPage) => {
      logDrawbacks(route.id, page);
      if (page.obstacle !== undefined) return next();
      const headers = mergeHeaders(securityHeaders, page.headers);
      sendStored(req, res, storeResponse({ ...page, headers, bodies: { identity: page.body } }));
    };
    const query = route.kept?.filterQuery(target.query) ?? "";
    // What fails is rendered again, for the request alone, and shows there with its stack.
    renderPage(canonicalPath + query, options)
      .then(send, () => next())
      .catch(next);
  };
}
