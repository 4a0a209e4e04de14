import { hash } from "node:crypto";
import type { Request, Response } from "express";
import fresh from "fresh";
import createHttpError from "http-errors";
import type { ByteRange } from "./byte-range.ts";
import { isForSharedCaches } from "./cache-control.ts";
import { CODINGS, negotiateContentCoding, type StoredCoding } from "./content-coding.ts";
import { isSharedLifetime, removeBreakingHeaders, removeSharedLifetimes } from "./page-headers.ts";

/** The longest If-None-Match that is read. Parsing 14 KB takes a millisecond; browsers send one entity tag. */
const MAX_TAGS_LENGTH = 1024;

/** A response in one content coding. Header lists are flat: names and values in turn. */
type Variant = { body: Buffer; etag: string; headers: string[]; notModifiedHeaders: string[] };

/** A response in memory, with everything that is the same for each request. */
export type StoredResponse = {
  status: number;
  /** Made at the first call: of most pages, clients request one variant. */
  variantOf: (coding: StoredCoding) => Variant;
};

/** The content by coding. For a missing coding, identity is sent. */
export type Bodies = { identity: Buffer } & Partial<Record<StoredCoding, Buffer>>;

type Options = {
  status: number;
  /** A 304 also has these (RFC 9110 §15.4.5). */
  headers: Record<string, string>;
  contentType: string | undefined;
  bodies: Bodies;
  contentHash?: string;
  /** The request headers beside Accept-Encoding that choose the response. */
  vary?: string | undefined;
};

/** A hash of the content only, so that every process and build has the same entity tag. */
export const hashContent = (identity: Buffer) => hash("sha256", identity, "base64url");

export function storeResponse({
  status,
  headers,
  contentType,
  bodies,
  contentHash = hashContent(bodies.identity),
  vary,
}: Options): StoredResponse {
  const allVary = vary === undefined ? "Accept-Encoding" : `Accept-Encoding, ${vary}`;
  const createVariant = (coding: StoredCoding, body: Buffer): Variant => {
    const isEncoded = coding !== "identity";
    const etag = isEncoded ? `"${contentHash}-${coding}"` : `"${contentHash}"`;
    const notModifiedHeaders: string[] = [];
    for (const [name, value] of Object.entries(headers)) notModifiedHeaders.push(name, value);
    notModifiedHeaders.push("Vary", allVary, "ETag", etag);
    const contentHeaders = [
      ...(contentType === undefined ? [] : ["Content-Type", contentType]),
      ...(isEncoded ? ["Content-Encoding", coding] : []),
      ...["Content-Length", String(body.length)],
    ];
    return { body, etag, headers: [...notModifiedHeaders, ...contentHeaders], notModifiedHeaders };
  };
  const variants: Partial<Record<StoredCoding, Variant>> = {};
  const variantOf = (coding: StoredCoding): Variant => {
    const body = bodies[coding];
    if (!body) return variantOf("identity");
    variants[coding] ??= createVariant(coding, body);
    return variants[coding];
  };
  return { status, variantOf };
}

/**
 * Copies bytes into memory of their own. zlib and Buffer.from may return a part of a larger block (Buffer.poolSize),
 * and the whole block stays in memory as long as the part.
 */
export function copyBytes(bytes: Uint8Array) {
  return Buffer.from(new Uint8Array(bytes).buffer);
}

/** Merges headers. The last one with a name counts. */
export function mergeHeaders(...sets: Record<string, string>[]) {
  const entries = sets
    .flatMap(Object.entries<string>)
    .map((entry): [string, typeof entry] => [entry[0].toLowerCase(), entry]);
  return Object.fromEntries(new Map(entries).values());
}

/** Sends a stored response in the content coding that the client prefers, or a range of it uncompressed, or 304. */
export function sendStored(
  req: Request,
  res: Response,
  stored: StoredResponse,
  ownHeaders: string[] = [],
  range?: ByteRange,
) {
  const variant = stored.variantOf(range ? "identity" : negotiateContentCoding(req.headers, CODINGS.stored));
  const { body, etag, headers, notModifiedHeaders } = variant;
  // Only a 200 can be "not modified" (RFC 9110 §13.2.1).
  const isFresh = stored.status === 200 && matches(req, etag);
  if (range && !isFresh) return sendRange(req, res, variant, range);
  res.locals.isStored = true;
  if (isFresh) {
    res.writeHead(304, withEarlier(req, res, notModifiedHeaders.concat(ownHeaders))).end();
  } else {
    const all = withEarlier(req, res, headers.concat(ownHeaders));
    res.writeHead(stored.status, all).end(req.method === "HEAD" ? undefined : body);
  }
}

function matches({ headers: { "if-none-match": tags = "" } }: Request, etag: string) {
  return tags.length <= MAX_TAGS_LENGTH && fresh({ "if-none-match": tags }, { etag });
}

function sendRange(req: Request, res: Response, { body, headers }: Variant, { start, end }: ByteRange) {
  if (start >= body.length) throw createHttpError(416, { headers: { "Content-Range": `bytes */${body.length}` } });
  const part = body.subarray(start, end + 1);
  const partHeaders = headers
    .with(headers.indexOf("Content-Length") + 1, String(part.length))
    .concat("Content-Range", `bytes ${start}-${end}/${body.length}`);
  res.locals.isStored = true;
  res.writeHead(206, withEarlier(req, res, partHeaders)).end(part);
}

/**
 * Sets Cache-Control, unless middleware in front has set it. Shared caches must not store a response to a user who has
 * signed in by `Authorization` (RFC 9111 §3.5). A cookie may come later (parts/receive/default-headers.ts).
 */
export function setCacheControl(req: Request, res: Response, cacheControl?: string) {
  const value = req.headers.authorization === undefined ? cacheControl : "private, no-cache";
  if (value === undefined || res.hasHeader("Cache-Control")) return;
  res.setHeader("Cache-Control", value);
  if (!isForSharedCaches(value)) removeSharedLifetimes(res);
}

/**
 * The headers to add to those that middleware in front has set: most of these stay, and `Vary` gets both values. A
 * private response has no lifetime for shared caches.
 */
function withEarlier(req: Request, res: Response, headers: string[]) {
  setCacheControl(req, res);
  if (res.getHeaderNames().length === 0) return headers;
  const policyAt = headers.findIndex((text) => text.toLowerCase() === "content-security-policy");
  removeBreakingHeaders(res, policyAt === -1 ? "" : headers[policyAt + 1]);
  const earlier = res.getHeaderNames();
  const isPrivate = res.hasHeader("Cache-Control") && !isForSharedCaches(String(res.getHeader("Cache-Control")));
  return headers.filter((_text, index) => {
    const [name = "", value = ""] = headers.slice(index - (index % 2));
    if (name === "Vary" && index % 2 === 0) res.vary(value);
    if (isPrivate && isSharedLifetime(name)) return false;
    return !earlier.includes(name.toLowerCase()) && name !== "Vary";
  });
}
