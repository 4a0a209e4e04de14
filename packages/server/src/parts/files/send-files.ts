import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { sendStored } from "../../http/stored-response.ts";
import { ASSETS_PATH } from "../../site/assets.ts";
import { checkMethod } from "./check-method.ts";
import type { ClientFiles } from "./client-files.ts";
import { sendFromDisk } from "./send-from-disk.ts";

/**
 * Sends the files of `public/` and `/assets/`: from memory, where it ignores Range (RFC 9110 §14.2), or from disk once
 * `admit` admits the request. Rejects methods that files and cached pages don't allow.
 */
export function sendFiles(folder: string | undefined, files: ClientFiles, admit: RequestHandler): RequestHandler {
  return (req, res, next) => {
    const error = checkMethod(req, res);
    if (error) return next(error);
    const { path, decodedPath } = res.locals.target;
    const file = files.get(decodedPath);
    if (file?.stored) return sendStored(req, res, file.stored);
    if (file && folder !== undefined) {
      return admit(req, res, (error) => (error ? next(error) : sendFromDisk(req, res, folder, file.codings)));
    }
    // No route is below /assets/.
    next(path.startsWith(ASSETS_PATH) ? createHttpError(404) : undefined);
  };
}
