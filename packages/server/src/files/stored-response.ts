import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import fresh from "fresh";
import { CODINGS, negotiateContentCoding, type StoredCoding } from "../http/content-coding.ts";

/** A response in one content coding. Header lists are flat: names and values in turn. */
type Variant = { body: Buffer; etag: string; headers: string[]; notModifiedHeaders: string[] };

/** A response in memory, with everything that is the same for each request. */
export type StoredResponse = {
  status: number;
  variants: Record<StoredCoding, Variant>;
};

/** The content by coding. For a missing coding, identity is sent. */
export type Bodies = { identity: Buffer } & Partial<Record<StoredCoding, Buffer>>;

type Options = {
  status: number;
  /** A 304 also has these (RFC 9110 §15.4.5). */
  headers: Record<string, string>;
  contentType: string | undefined;
  bodies: Bodies;
};

export function storeResponse({ status, headers, contentType, bodies }: Options): StoredResponse {
  // A hash of the content only, so that every process and build has the same tag.
  const hash = createHash("sha256").update(bodies.identity).digest("base64url");
  const toVariant = (coding: StoredCoding, body: Buffer | undefined): Variant => {
    if (!body) return toVariant("identity", bodies.identity);
    const isEncoded = coding !== "identity";
    const etag = isEncoded ? `"${hash}-${coding}"` : `"${hash}"`;
    const notModifiedHeaders = Object.entries({ ...headers, Vary: "Accept-Encoding", ETag: etag }).flat();
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
  const { br, gzip, identity } = bodies;
  return {
    status,
    variants: { br: toVariant("br", br), gzip: toVariant("gzip", gzip), identity: toVariant("identity", identity) },
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
  const { body, etag, headers, notModifiedHeaders } =
    stored.variants[negotiateContentCoding(req.headers, CODINGS.stored)];
  res.locals.isStored = true;
  // Only a 200 can be "not modified" (RFC 9110 §13.2.1).
  if (stored.status === 200 && fresh({ "if-none-match": req.headers["if-none-match"] }, { etag })) {
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
