import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import fresh from "fresh";
import { acceptsDcz, CODINGS, negotiateContentCoding, type StoredCoding } from "../http/content-coding.ts";

/** The longest If-None-Match that is read. Parsing 14 KB takes a millisecond; browsers send one entity tag. */
const MAX_TAGS_LENGTH = 1024;

/** A response in one content coding. Header lists are flat: names and values in turn. */
type Variant = { body: Buffer; etag: string; headers: string[]; notModifiedHeaders: string[] };

/** A response in memory, with everything that is the same for each request. */
export type StoredResponse = {
  status: number;
  variants: Record<StoredCoding, Variant>;
  /** The variants in dcz, by the `Available-Dictionary` that each needs. */
  dczVariants: Map<unknown, Variant> | undefined;
};

/** The content by coding. For a missing coding, identity is sent. */
export type Bodies = { identity: Buffer } & Partial<Record<StoredCoding, Buffer>>;

type Options = {
  status: number;
  /** A 304 also has these (RFC 9110 §15.4.5). */
  headers: Record<string, string>;
  contentType: string | undefined;
  bodies: Bodies;
  /** The content in dcz, once for each dictionary. Bytes 8 to 39 are the dictionary's SHA-256 (RFC 9842 §5). */
  dczBodies?: Buffer[];
};

export function storeResponse({ status, headers, contentType, bodies, dczBodies = [] }: Options): StoredResponse {
  // A hash of the content only, so that every process and build has the same tag.
  const hash = createHash("sha256").update(bodies.identity).digest("base64url");
  const vary = dczBodies.length > 0 ? "Accept-Encoding, Available-Dictionary" : "Accept-Encoding";
  const toVariant = (coding: StoredCoding | "dcz", body: Buffer | undefined, suffix: string = coding): Variant => {
    if (!body) return toVariant("identity", bodies.identity);
    const isEncoded = coding !== "identity";
    const etag = isEncoded ? `"${hash}-${suffix}"` : `"${hash}"`;
    const notModifiedHeaders = Object.entries({ ...headers, Vary: vary, ETag: etag }).flat();
    const contentHeaders = {
      ...(contentType !== undefined && { "Content-Type": contentType }),
      ...(isEncoded && { "Content-Encoding": coding }),
      "Content-Length": String(body.length),
    };
    return {
      body,
      etag,
      headers: [...notModifiedHeaders, ...Object.entries(contentHeaders).flat()],
      notModifiedHeaders,
    };
  };
  const toDczVariant = (body: Buffer): [string, Variant] => {
    const dictionary = body.toString("base64", 8, 40);
    return [`:${dictionary}:`, toVariant("dcz", body, dictionary)];
  };
  const { br, gzip, identity } = bodies;
  return {
    status,
    variants: { br: toVariant("br", br), gzip: toVariant("gzip", gzip), identity: toVariant("identity", identity) },
    dczVariants: dczBodies.length > 0 ? new Map(dczBodies.map(toDczVariant)) : undefined,
  };
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

/** Sends a stored response in the content coding that the client prefers, or 304. */
export function sendStored(req: Request, res: Response, stored: StoredResponse, ownHeaders: string[] = []) {
  const dcz = stored.dczVariants?.get(req.headers["available-dictionary"]);
  const variant =
    dcz && acceptsDcz(req.headers) ? dcz : stored.variants[negotiateContentCoding(req.headers, CODINGS.stored)];
  const { body, etag, headers, notModifiedHeaders } = variant;
  res.locals.isStored = true;
  const tags = req.headers["if-none-match"] ?? "";
  // Only a 200 can be "not modified" (RFC 9110 §13.2.1).
  if (stored.status === 200 && tags.length <= MAX_TAGS_LENGTH && fresh({ "if-none-match": tags }, { etag })) {
    res.writeHead(304, withEarlier(req, res, notModifiedHeaders.concat(ownHeaders))).end();
  } else {
    const all = withEarlier(req, res, headers.concat(ownHeaders));
    res.writeHead(stored.status, all).end(req.method === "HEAD" ? undefined : body);
  }
}

/**
 * Sets Cache-Control, unless middleware in front has set it. Shared caches must not store a response with a cookie, or
 * one to a user who has signed in by `Authorization` (RFC 9111 §3.5).
 */
export function setCacheControl(req: Request, res: Response, cacheControl?: string) {
  const isPersonal = req.headers.authorization !== undefined || res.hasHeader("Set-Cookie");
  const value = isPersonal ? "private, no-cache" : cacheControl;
  if (value !== undefined && !res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", value);
}

/** The headers to add to those that middleware in front has set: these stay, and `Vary` gets both values. */
function withEarlier(req: Request, res: Response, headers: string[]) {
  setCacheControl(req, res);
  const earlier = res.getHeaderNames();
  if (earlier.length === 0) return headers;
  return headers.filter((_text, index) => {
    const [name = "", value = ""] = headers.slice(index - (index % 2));
    if (name === "Vary" && index % 2 === 0) res.vary(value);
    return !earlier.includes(name.toLowerCase()) && name !== "Vary";
  });
}
