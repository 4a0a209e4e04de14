import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { contentType } from "mime-types";
import { CODINGS, type StoredCoding, SUFFIXES, VARIANT_SUFFIX } from "../../http/content-coding.ts";
import { type Bodies, mergeHeaders, type StoredResponse, storeResponse } from "../../http/stored-response.ts";
import { CACHED_FOR_A_MINUTE } from "../../pages/cache-control.ts";
import { ASSETS_PATH } from "../../site/assets.ts";
import { type Base, toUrlPath } from "../../site/base-path.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";

/** A name with a hash always has the same content, so browsers cache it for a year (RFC 8246). */
const ASSET_CACHE_CONTROL = "public, max-age=31536000, immutable";

/** Larger files stay on disk. */
const MAX_FILE_BYTES = 512 * 1024;

/** The scripts and styles of a release. */
const SCRIPT_OR_STYLE = /^\/assets\/.*\.(js|css)$/;

/** A file for the browser: in memory, or on disk in some content codings. */
export type ClientFile = {
  /** Below the folder. Begins with a slash. */
  path: string;
  stored?: StoredResponse;
  codings: StoredCoding[];
  /** Of the uncompressed file. */
  size: number;
  /** What If-Range may have: the strong entity tag of a file in memory, or the modification date of one on disk. */
  validator: string;
};

/** The files of a build, by URL path. */
export type ClientFiles = Map<string, ClientFile>;

type Options = { base: Base; securityHeaders: SecurityHeaders; maxBytes: number };

/** Reads the files of a folder, with their compressed variants, up to a total of bytes. Others stay on disk. */
export function readClientFiles(folder: string | undefined, { base, securityHeaders, maxBytes }: Options) {
  const files: ClientFiles = new Map();
  if (folder === undefined) return { files, bytes: 0 };
  let total = 0;
  const read = (filePath: string): ClientFile => {
    const path = join(folder, filePath);
    const codings = CODINGS.stored.filter((coding) => existsSync(path + SUFFIXES[coding]));
    const allBytes = codings.reduce((sum, coding) => sum + statSync(path + SUFFIXES[coding]).size, 0);
    const { size, mtime } = statSync(path);
    if (size > MAX_FILE_BYTES || total + allBytes > maxBytes)
      return { path: filePath, codings, size, validator: mtime.toUTCString() };
    total += allBytes;
    const variants = codings.map((coding): [StoredCoding, Buffer] => [coding, readFileSync(path + SUFFIXES[coding])]);
    const stored = storeResponse({
      status: 200,
      headers: mergeHeaders(
        SCRIPT_OR_STYLE.test(filePath) ? securityHeaders.ofAssets : securityHeaders.defaults,
        securityHeaders.ofFiles,
        {
          "Cache-Control": fileCacheControl(filePath),
          "Accept-Ranges": "bytes",
        },
      ),
      contentType: contentType(basename(filePath)) || "application/octet-stream",
      bodies: Object.fromEntries(variants) as Bodies,
    });
    return { path: filePath, stored, codings, size, validator: stored.variantOf("identity").etag };
  };
  const filePaths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => `/${relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/")}`);
  const all = new Set(filePaths);
  const isVariant = (filePath: string) =>
    VARIANT_SUFFIX.test(filePath) && all.has(filePath.replace(VARIANT_SUFFIX, ""));
  for (const filePath of filePaths) if (!isVariant(filePath)) files.set(toUrlPath(base, filePath), read(filePath));
  return { files, bytes: total };
}

/** A file without a hash in its name may change with the next release, as a page may. */
export function fileCacheControl(filePath: string) {
  return filePath.startsWith(ASSETS_PATH) ? ASSET_CACHE_CONTROL : CACHED_FOR_A_MINUTE;
}
