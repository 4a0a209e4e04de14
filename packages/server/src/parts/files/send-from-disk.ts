import { extname } from "node:path";
import type { Request, Response } from "express";
import type { ByteRange } from "../../http/byte-range.ts";
import { CODINGS, negotiateContentCoding, type StoredCoding } from "../../http/content-coding.ts";
import { setCacheControl } from "../../http/stored-response.ts";
import { fileCacheControl, SUFFIXES } from "./client-files.ts";

/** Sends a file that stays on disk, or a range of it. `codings` are those of its variants. */
export function sendFromDisk(
  req: Request,
  res: Response,
  folder: string,
  codings: StoredCoding[],
  range: ByteRange | undefined,
) {
  const { decodedPath } = res.locals.target;
  // `sendFile` reads the header, and evaluates the preconditions before it. If-Range has been evaluated.
  delete req.headers["if-range"];
  if (range) req.headers.range = `bytes=${range.start}-${range.end}`;
  else delete req.headers.range;
  // A range counts the bytes of the uncompressed file.
  const best = range ? "identity" : negotiateContentCoding(req.headers, CODINGS.stored);
  const coding = codings.includes(best) ? best : "identity";
  if (coding !== "identity") res.set("Content-Encoding", coding);
  res.vary("Accept-Encoding");
  res.type(extname(decodedPath));
  setCacheControl(req, res, fileCacheControl(decodedPath));
  res.sendFile(decodedPath + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
}
