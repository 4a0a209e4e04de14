import { extname } from "node:path";
import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { negotiateContentCoding } from "../http/content-coding.ts";
import { sendStored } from "../http/stored-response.ts";
import { ASSETS_PATH, type ClientFiles, fileCacheControl, SUFFIXES } from "../pages/client-files.ts";
import type { Middleware } from "./chain.ts";

/** Sends the files that are in memory. The whole of them, also where a range is asked for (RFC 9110 §14.2). */
export function staticFiles(files: ClientFiles): Middleware {
  return (req, res, next) => {
    const { path, decodedPath } = res.locals.target;
    const stored = files.get(decodedPath)?.stored;
    if (stored) return sendStored(req, res, stored, ["X-Request-Id", res.locals.requestId]);
    // The last segment of an asset's path is a file's name: nothing else is there.
    next(path.startsWith(ASSETS_PATH) && !files.has(decodedPath) ? createHttpError(404) : undefined);
  };
}

/** Sends those that stay on disk, and ranges of them. */
export function largeFiles(folder: string, files: ClientFiles): RequestHandler {
  return (req, res, next) => {
    const { decodedPath } = res.locals.target;
    const file = files.get(decodedPath);
    if (!file) return next();
    // A range is one of the file's own bytes, not of a compressed form that the client never saw.
    const best = req.headers.range === undefined ? negotiateContentCoding(req.headers) : "identity";
    const coding = file.codings.includes(best) ? best : "identity";
    if (coding !== "identity") res.set("Content-Encoding", coding);
    res.vary("Accept-Encoding");
    res.type(extname(decodedPath));
    res.set("Cache-Control", fileCacheControl(decodedPath));
    res.sendFile(decodedPath + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
  };
}
