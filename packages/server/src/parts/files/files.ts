import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { findRange } from "../../http/byte-range.ts";
import { sendStored } from "../../http/stored-response.ts";
import { FILE_ROUTE } from "../../locals.ts";
import type { Pages } from "../../site/pages.ts";
import { READ_METHODS } from "../../site/route-entry.ts";
import { checkMethod } from "../check-method.ts";
import { checkReceived } from "../check-received.ts";
import type { CheckUrl } from "../check-url.ts";
import type { ClientFiles } from "./client-files.ts";
import { createFindSpelling } from "./find-spelling.ts";
import { sendFromDisk } from "./send-from-disk.ts";

/**
 * Sends the files of `public/` and `/assets/`, or a range of one: from memory, or from disk once `admit` admits the
 * request. Rejects methods that files and cached pages don't allow. Redirects to another spelling of the path.
 */
export function sendFiles(
  folder: string | undefined,
  files: ClientFiles,
  { base, findRoute }: Pages,
  admit: RequestHandler,
  checkUrl: CheckUrl,
  headers: Record<string, string> = {},
): RequestHandler {
  const findSpelling = createFindSpelling(files, findRoute);
  return (req, res, next) => {
    checkReceived(res, "files");
    const error = checkMethod(req, res);
    if (error) return next(error);
    const { target, route, httpRoute } = res.locals;
    const isRedirectable = httpRoute !== FILE_ROUTE && READ_METHODS.includes(req.method);
    // The base path without its last slash is another spelling, too.
    const isBase = target.path.length < base.path.length;
    const spelling = isRedirectable ? (isBase ? base.path : findSpelling(target, route)) : undefined;
    if (spelling !== undefined) return res.redirect(308, spelling + target.query);
    checkUrl(req, res);
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
