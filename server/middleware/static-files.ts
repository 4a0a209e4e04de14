import { readdirSync } from "node:fs";
import { extname, join, relative } from "node:path";
import type { RequestHandler } from "express";
import { chooseCoding } from "../http/content-coding.ts";

/** Where the build puts files whose names hold a hash of their content. */
export const ASSETS = "/assets/";

/** A name with a hash never means anything else: keep it for a year, and never ask again (RFC 8246). */
const ASSET_CACHING = "public, max-age=31536000, immutable";
/** Any other file may change with the next release: keep it, but ask first. */
const FILE_CACHING = "public, max-age=0, must-revalidate";

const SUFFIXES = { br: ".br", gzip: ".gz", identity: "" };

/** The URL paths of all files of a folder, but for the precompressed forms of assets. */
export function listFiles(folder: string) {
  return new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => `/${relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/")}`)
      .filter((path) => !(path.startsWith(ASSETS) && /\.(br|gz)$/.test(path))),
  );
}

/** Serves the listed files, assets in the form that the client reads best. */
export function serveFiles(folder: string, files: Set<string>): RequestHandler {
  return (req, res, next) => {
    const path = decodeURIComponent(req.path);
    if (!files.has(path)) return next();
    const isAsset = path.startsWith(ASSETS);
    if (isAsset) res.vary("Accept-Encoding");
    // A range is one of the file's own bytes, not of a compressed form that the client never saw.
    const coding = isAsset && req.headers.range === undefined ? chooseCoding(req.headers) : "identity";
    if (coding !== "identity") res.set("Content-Encoding", coding);
    res.type(extname(path));
    res.set("Cache-Control", isAsset ? ASSET_CACHING : FILE_CACHING);
    res.sendFile(path + SUFFIXES[coding], { root: folder, cacheControl: false, dotfiles: "allow" });
  };
}
