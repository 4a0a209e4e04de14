import { extname } from "node:path";
import type { Request, Response } from "express";
import { CODINGS, negotiateContentCoding, type StoredCoding } from "../../http/content-coding.ts";
import { setCacheControl } from "../../http/stored-response.ts";
import { fileCacheControl, SUFFIXES } from "./client-files.ts";

/** Sends a file that stays on disk, or a range of it. `codings` are those of its variants. */
export function sendFromDisk(req: Request, res: Response, folder: string, codings: StoredCoding[]) {
  const { decodedPath } = res.locals.target;
  // Range is for GET only (RFC 9110 §14.2), and If-Range needs a strong entity tag (§13.1.5).
  if (req.method === "HEAD" || String(req.headers["if-range"]).startsWith("W/")) delete req.headers.range;
  // A range counts the bytes of the uncompressed file.
  const best = req.headers.range === undefined ? negotiateContentCoding(req.headers, CODINGS.stored) : "identity";
  const coding = codings.includes(best) ? best : "identity";
  if (coding !== "identity") res.set("Content-Encoding", coding);
  res.vary("Accept-Encoding");
  res.type(extname(decodedPath));
  setCacheControl(req, res, fileCacheControl(decodedPath));
  res.sendFile(decodedPath + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
}
