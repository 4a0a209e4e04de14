import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PrerenderedFile, RouteEntry } from "../locals.ts";
import { CACHED_FOR_A_MINUTE } from "../pages/cache-control.ts";

/** Lists the responses that the build has prerendered (vite/move-prerendered.ts). */
export function listPrerendered(clientFolder: string | undefined): PrerenderedFile[] {
  const build = join(clientFolder ?? "", "..");
  const list = join(build, "prerendered.json");
  if (clientFolder === undefined || !existsSync(list)) return [];
  const files: PrerenderedFile[] = JSON.parse(readFileSync(list, "utf8"));
  return files.map((response) => ({ ...response, file: join(build, "prerendered", response.file) }));
}

/**
 * The entry for the paths of a route that have a prerendered response. Each query gets the same one. The page cache reads
 * its file instead of a render, so caches in front get the new release as soon as that of other pages.
 */
export function toPrerenderedEntry(route: RouteEntry, prerendered: PrerenderedFile): RouteEntry {
  const headers = route.cacheRule?.headers ?? new Headers({ "Cache-Control": CACHED_FOR_A_MINUTE });
  return { ...route, prerendered, cacheRule: { headers, filterQuery: () => "", variants: undefined } };
}
