import createHttpError from "http-errors";
import type { Middleware } from "../chain.ts";
import { ASSETS_PATH, type ClientFiles } from "../pages/client-files.ts";
import { sendStored } from "../response/stored-response.ts";

/** Sends files from memory. It ignores Range (RFC 9110 §14.2). */
export function staticFiles(files: ClientFiles): Middleware {
  return (req, res, next) => {
    const { path, decodedPath } = res.locals.target;
    const stored = files.get(decodedPath)?.stored;
    if (stored) return sendStored(req, res, stored);
    // No route is below /assets/.
    next(path.startsWith(ASSETS_PATH) && !files.has(decodedPath) ? createHttpError(404) : undefined);
  };
}
