import { extname } from "node:path";
import type { RequestHandler } from "express";
import { negotiateContentCoding } from "../http/content-coding.ts";
import { type ClientFiles, fileCacheControl, SUFFIXES } from "../pages/client-files.ts";

/** Sends the files that stay on disk, or a range of one. */
export function largeFiles(folder: string, files: ClientFiles): RequestHandler {
  return (req, res, next) => {
    const { decodedPath } = res.locals.target;
    const file = files.get(decodedPath);
    if (!file) return next();
    // Range is for GET only (RFC 9110 §14.2), and If-Range needs a strong entity tag (§13.1.5).
    if (req.method === "HEAD" || String(req.headers["if-range"]).startsWith("W/")) delete req.headers.range;
    // A range counts the bytes of the uncompressed file.
    const best = req.headers.range === undefined ? negotiateContentCoding(req.headers) : "identity";
    const coding = file.codings.includes(best) ? best : "identity";
    if (coding !== "identity") res.set("Content-Encoding", coding);
    res.vary("Accept-Encoding");
    res.type(extname(decodedPath));
    res.set("Cache-Control", fileCacheControl(decodedPath));
    res.sendFile(decodedPath + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
  };
}
