import type { Logger } from "pino";
import { findFile } from "../pages/build.ts";
import { findDrawbacks, type RenderOptions, renderPage } from "../pages/render-page.ts";
import type { Middleware } from "./chain.ts";

/** In development nothing is kept: this warns, once a page, of what production would warn of. */
export function keptWarnings(log: Logger, options: RenderOptions): Middleware {
  const checked = new Set<string>();
  return (req, res, next) => {
    next();
    const { route, target } = res.locals;
    if (req.method !== "GET" || !(route?.kept || route?.isPrerendered) || checked.has(route.id)) return;
    checked.add(route.id);
    const warn = (reason: string) =>
      log.warn({ file: findFile(route.id), reason }, "page that is the same for everybody");
    // What fails here fails for the client too, and shows there.
    renderPage(target.path + target.query, options).then(
      (page) => findDrawbacks(page).forEach(warn),
      () => {},
    );
  };
}
