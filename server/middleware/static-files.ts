import { readdirSync } from "node:fs";
import { extname, join, relative } from "node:path";
import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { negotiateContentCoding } from "../http/content-coding.ts";

/** Where the build puts files whose names hold a hash of their content. */
export const ASSETS_PATH = "/assets/";

/** A name with a hash never means anything else: keep it for a year without asking again (RFC 8246). */
const ASSET_CACHE_CONTROL = "public, max-age=31536000, immutable";
/** Any other file may change with the next release: keep it, but revalidate. */
const FILE_CACHE_CONTROL = "public, max-age=0, must-revalidate";

const SUFFIXES = { br: ".br", gzip: ".gz", identity: "" };

const isPrecompressed = (path: string) => path.startsWith(ASSETS_PATH) && /\.(br|gz)$/.test(path);

/** The URL paths of all files of a folder, the precompressed forms of assets included. */
export function listFiles(folder: string) {
  return new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => `/${relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/")}`),
  );
}

/** Sends the listed files, assets in the content coding that the client prefers. */
export function staticFiles(folder: string, files: Set<string>): RequestHandler {
  return (req, res, next) => {
    const { decodedPath } = res.locals.target;
    const isAsset = req.path.startsWith(ASSETS_PATH);
    if (!files.has(decodedPath) || isPrecompressed(decodedPath))
      return next(isAsset ? createHttpError(404) : undefined);
    if (isAsset) res.vary("Accept-Encoding");
    // A range is one of the file's own bytes, not of a compressed form that the client never saw.
    const best = isAsset && req.headers.range === undefined ? negotiateContentCoding(req.headers) : "identity";
    const coding = files.has(decodedPath + SUFFIXES[best]) ? best : "identity";
    if (coding !== "identity") res.set("Content-Encoding", coding);
    res.type(extname(decodedPath));
    res.set("Cache-Control", isAsset ? ASSET_CACHE_CONTROL : FILE_CACHE_CONTROL);
    res.sendFile(decodedPath + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
  };
}
