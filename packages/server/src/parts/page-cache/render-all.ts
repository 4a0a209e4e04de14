import type { RouteEntry } from "../../locals.ts";
import { ChangedHtmlError } from "../../site/changed-html-error.ts";
import { isDynamic } from "../../site/route-entry.ts";
import { listCacheKeys } from "../../site/variants.ts";

/**
 * Renders all variants of each cacheable route without parameters. In parallel: one is rendered while another is
 * compressed. Rejects with a ChangedHtmlError, but not if a page fails otherwise.
 */
export async function renderAll(
  routes: RouteEntry[],
  render: (key: string, route: RouteEntry) => Promise<unknown>,
): Promise<void> {
  const isKnown = (route: RouteEntry) => route.cacheRule && !isDynamic(route.cacheKey ?? route.pattern);
  const rendering = routes.filter(isKnown).flatMap((route) => listCacheKeys(route).map((key) => render(key, route)));
  const results = await Promise.allSettled(rendering); // If one waits too long, the first request renders it.
  const errors = results.map((result) => (result.status === "rejected" ? result.reason : undefined));
  const changed = errors.find((error) => error instanceof ChangedHtmlError);
  if (changed) throw changed;
}
