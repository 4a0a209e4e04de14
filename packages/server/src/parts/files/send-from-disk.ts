import { extname } from "node:path";
import type { Request, Response } from "express";
import type { ByteRange } from "../../http/byte-range.ts";
import { CODINGS, negotiateContentCoding, SUFFIXES } from "../../http/content-coding.ts";
import { setCacheControl } from "../../http/stored-response.ts";
import { type ClientFile, fileCacheControl } from "./client-files.ts";

/** Sends a file that stays on disk, or a range of it. */
export function sendFromDisk(
  req: Request,
  res: Response,
  folder: string,
  { path, codings }: ClientFile,
  range: ByteRange | undefined,
) {
  // `sendFile` reads the header, and evaluates the preconditions before it. If-Range has been evaluated.
  delete req.headers["if-range"];
  if (range) req.headers.range = `bytes=${range.start}-${range.end}`;
  else delete req.headers.range;
  // A range counts the bytes of the uncompressed file.
  const best = range ? "identity" : negotiateContentCoding(req.headers, CODINGS.stored);
  const coding = codings.includes(best) ? best : "identity";
  if (coding !== "identity") res.set("Content-Encoding", coding);
  res.vary("Accept-Encoding");
  res.type(extname(path));
  setCacheControl(req, res, fileCacheControl(path));
  res.sendFile(path + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
}
