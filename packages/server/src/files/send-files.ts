import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { checkMethod } from "../receive/match-route.ts";
import { READ_METHODS } from "../routes/route-entry.ts";
import { ASSETS_PATH, type ClientFiles } from "./client-files.ts";
import { sendFromDisk } from "./send-from-disk.ts";
import { sendStored } from "./stored-response.ts";

/**
 * Sends the files of `public/` and `/assets/`: from memory, where it ignores Range (RFC 9110 §14.2), or from disk once
 * `admit` admits the request. Rejects methods that files and cached pages don't allow. Redirects to another spelling of
 * the path.
 */
export function sendFiles(folder: string | undefined, files: ClientFiles, admit: RequestHandler): RequestHandler {
  return (req, res, next) => {
    const error = checkMethod(req, res);
    if (error) return next(error);
    const { target, spelling } = res.locals;
    if (spelling !== undefined && READ_METHODS.includes(req.method)) return res.redirect(308, spelling + target.query);
    const { path, decodedPath } = target;
    const file = files.get(decodedPath);
    if (file?.stored) return sendStored(req, res, file.stored);
    if (file && folder !== undefined) {
      return admit(req, res, (error) => (error ? next(error) : sendFromDisk(req, res, folder, file.codings)));
    }
    // No route is below /assets/.
    next(path.startsWith(ASSETS_PATH) ? createHttpError(404) : undefined);
  };
}
