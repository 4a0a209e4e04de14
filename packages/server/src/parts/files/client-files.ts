import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { contentType } from "mime-types";
import { CODINGS, type StoredCoding } from "../../http/content-coding.ts";
import { type Bodies, mergeHeaders, type StoredResponse, storeResponse } from "../../http/stored-response.ts";
import { CACHED_FOR_A_MINUTE } from "../../pages/cache-control.ts";
import { ASSETS_PATH } from "../../site/assets.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";

/** A name with a hash always has the same content, so browsers cache it for a year (RFC 8246). */
const ASSET_CACHE_CONTROL = "public, max-age=31536000, immutable";

/** Larger files stay on disk. */
const MAX_FILE_BYTES = 512 * 1024;

/** The suffix of a file's variant in each content coding. */
export const SUFFIXES = { br: ".br", gzip: ".gz", identity: "" };

/** The suffix of any compressed variant. */
export const VARIANT_SUFFIX = /\.(br|gz)$/;

/** The scripts and styles of a release. */
const SCRIPT_OR_STYLE = /^\/assets\/.*\.(js|css)$/;

/** A file for the browser: in memory, or on disk in some content codings. */
type ClientFile = {
  stored?: StoredResponse;
  codings: StoredCoding[];
  /** Of the uncompressed file. */
  size: number;
  /** What If-Range may have: the strong entity tag of a file in memory, or the modification date of one on disk. */
  validator: string;
};

/** The files of a build, by URL path. */
export type ClientFiles = Map<string, ClientFile>;

/** Reads the files of a folder, with their compressed variants, up to a total of bytes. Others stay on disk. */
export function readClientFiles(folder: string | undefined, securityHeaders: SecurityHeaders, maxBytes: number) {
  const files: ClientFiles = new Map();
  if (folder === undefined) return { files, bytes: 0 };
  let total = 0;
  const read = (urlPath: string): ClientFile => {
    const path = join(folder, urlPath);
    const codings = CODINGS.stored.filter((coding) => existsSync(path + SUFFIXES[coding]));
    const allBytes = codings.reduce((sum, coding) => sum + statSync(path + SUFFIXES[coding]).size, 0);
    const { size, mtime } = statSync(path);
    if (size > MAX_FILE_BYTES || total + allBytes > maxBytes) return { codings, size, validator: mtime.toUTCString() };
    total += allBytes;
    const variants = codings.map((coding): [StoredCoding, Buffer] => [coding, readFileSync(path + SUFFIXES[coding])]);
    const stored = storeResponse({
      status: 200,
      headers: mergeHeaders(SCRIPT_OR_STYLE.test(urlPath) ? securityHeaders.ofAssets : securityHeaders.defaults, {
        "Cache-Control": fileCacheControl(urlPath),
        "Accept-Ranges": "bytes",
      }),
      contentType: contentType(basename(urlPath)) || "application/octet-stream",
      bodies: Object.fromEntries(variants) as Bodies,
    });
    return { stored, codings, size, validator: stored.variants.identity.etag };
  };
  const urlPaths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => `/${relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/")}`);
  const all = new Set(urlPaths);
  const isVariant = (urlPath: string) => VARIANT_SUFFIX.test(urlPath) && all.has(urlPath.replace(VARIANT_SUFFIX, ""));
  for (const urlPath of urlPaths) if (!isVariant(urlPath)) files.set(urlPath, read(urlPath));
  return { files, bytes: total };
}

/** A file without a hash in its name may change with the next release, as a page may. */
export function fileCacheControl(urlPath: string) {
  return urlPath.startsWith(ASSETS_PATH) ? ASSET_CACHE_CONTROL : CACHED_FOR_A_MINUTE;
}
