import { createHash } from "node:crypto";
import fresh from "fresh";
import { type ContentCoding, negotiateContentCoding } from "../http/content-coding.ts";
import type { RenderedDocument } from "../pages/documents.ts";
import { READ_METHODS } from "../pages/route-table.ts";
import type { Middleware } from "./chain.ts";

/**
 * Browsers revalidate at each visit, which a 304 makes cheap, so a new release shows at once;
 * shared caches keep a document for a minute, which spares the origin all but one request a minute.
 */
export const PRERENDERED_CACHE_CONTROL = "public, max-age=0, s-maxage=60, must-revalidate";

/** Sends the documents that were rendered before the server listened. */
export function pageCache(
  documents: Map<string, RenderedDocument>,
  securityHeaders: Record<string, string>,
): Middleware {
  const kept = new Map([...documents].map(([id, document]) => [id, toRepresentations(document, securityHeaders)]));
  return (req, res, next) => {
    const { route, requestId } = res.locals;
    const representations =
      route?.isPrerendered && READ_METHODS.includes(req.method ?? "") ? kept.get(route.id) : undefined;
    if (!representations) return next();
    const { status, body, etag, headers, notModifiedHeaders } = representations[negotiateContentCoding(req.headers)];
    const id = ["X-Request-Id", requestId];
    // Only a 200 can be "not modified" (RFC 9110 §13.2.1).
    if (status === 200 && fresh({ "if-none-match": req.headers["if-none-match"] }, { etag })) {
      res.writeHead(304, notModifiedHeaders.concat(id)).end();
    } else {
      res.writeHead(status, headers.concat(id)).end(req.method === "HEAD" ? undefined : body);
    }
  };
}

/** All of the responses but for what differs per request. Header lists are flat: names and values in turn. */
function toRepresentations(document: RenderedDocument, securityHeaders: Record<string, string>) {
  const { status, headers: own, policy, bodies } = document;
  const defaults = {
    ...securityHeaders,
    "Content-Security-Policy": policy,
    "Cache-Control": PRERENDERED_CACHE_CONTROL,
  };
  const said = Object.entries(defaults).filter(([name]) => !(name.toLowerCase() in own));
  const toRepresentation = (coding: ContentCoding) => {
    const body = bodies[coding];
    const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
    const notModifiedHeaders = [...said, ...Object.entries(own), ["Vary", "Accept-Encoding"], ["ETag", etag]].flat();
    const headers = [...notModifiedHeaders, "Content-Type", "text/html; charset=utf-8"];
    if (coding !== "identity") headers.push("Content-Encoding", coding);
    headers.push("Content-Length", String(body.length));
    return { status, body, etag, headers, notModifiedHeaders };
  };
  return { br: toRepresentation("br"), gzip: toRepresentation("gzip"), identity: toRepresentation("identity") };
}
