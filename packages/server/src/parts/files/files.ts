import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { findRange } from "../../http/byte-range.ts";
import { sendStored } from "../../http/stored-response.ts";
import { FILE_ROUTE } from "../../locals.ts";
import { READ_METHODS } from "../../site/route-entry.ts";
import { checkMethod } from "./check-method.ts";
import type { ClientFiles } from "./client-files.ts";
import { sendFromDisk } from "./send-from-disk.ts";

/**
 * Sends the files of `public/` and `/assets/`, or a range of one: from memory, or from disk once `admit` admits the
 * request. Rejects methods that files and cached pages don't allow. Redirects to another spelling of the path.
 */
export function sendFiles(
  folder: string | undefined,
  files: ClientFiles,
  admit: RequestHandler,
  headers: Record<string, string> = {},
): RequestHandler {
  return (req, res, next) => {
    const error = checkMethod(req, res);
    if (error) return next(error);
    const { target, spelling, httpRoute } = res.locals;
    if (spelling !== undefined && READ_METHODS.includes(req.method)) return res.redirect(308, spelling + target.query);
    const file = files.get(target.decodedPath);
    const range = file && req.headers.range !== undefined ? findRange(req, file.size, file.validator) : undefined;
    if (file?.stored) return sendStored(req, res, file.stored, [], range);
    if (file && folder !== undefined) {
      return admit(req, res, (error) => {
        if (error) return next(error);
        res.set(headers);
        sendFromDisk(req, res, folder, file, range);
      });
    }
    // No route is below /assets/.
    next(httpRoute === FILE_ROUTE ? createHttpError(404) : undefined);
  };
}
