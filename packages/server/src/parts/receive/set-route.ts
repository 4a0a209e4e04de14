import type { Response } from "express";
import { FILE_ROUTE } from "../../locals.ts";
import { ASSETS_PATH } from "../../site/assets.ts";
import { toUrlPath } from "../../site/base-path.ts";
import type { Pages } from "../../site/pages.ts";

/** Whether there is a file at a decoded URL path. */
export type FindFile = { has: (decodedPath: string) => boolean };

/** Returns a function that sets the file or the route of a request. A router in front of the files may still respond. */
export function createSetRoute(files: FindFile, { base, findRoute }: Pages) {
  const assetsPath = toUrlPath(base, ASSETS_PATH);
  return ({ locals }: Response) => {
    const { path, decodedPath } = locals.target;
    const isFile = path.startsWith(assetsPath) || files.has(decodedPath);
    const match = isFile ? undefined : findRoute(path);
    locals.route = match?.route;
    locals.canonicalPath = match?.canonicalPath ?? path;
    locals.httpRoute = isFile ? FILE_ROUTE : match?.route.pattern;
  };
}
