import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import fresh from "fresh";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { type Coding, chooseCoding, compress } from "../http/content-coding.ts";
import { policyForDocument, SECURITY_HEADERS } from "../middleware/security-headers.ts";
import { build, renderContext } from "./build.ts";
import type { Target } from "./route-table.ts";

/**
 * Browsers ask again at each visit, which a 304 makes cheap, so a new release shows at once;
 * shared caches keep a document for a minute, which spares the origin all but one visit a minute.
 */
const DOCUMENT_CACHING = "public, max-age=0, s-maxage=60, must-revalidate";

type Variant = { body: Buffer; etag: string; headers: string[]; notModifiedHeaders: string[] };

/** A page as bytes: everything of its answers that can be made before anybody asks. */
export type Document = { status: number; variants: Record<Coding, Variant> };

/**
 * Renders the routes that are rendered once, each at its own pattern, since every address that it
 * matches gives the same document. Rejects when one fails or redirects.
 */
export async function renderDocuments(targets: Target[]) {
  const handleRequest = createRequestHandler(build);
  const renderDocument = async ({ id, pattern }: Target): Promise<[string, Document]> => {
    const errors: unknown[] = [];
    const context = new RouterContextProvider();
    context.set(renderContext, { isKept: true, onError: (error) => errors.push(error) });
    const url = new URL(pattern.replaceAll("?", ""), "http://localhost");
    const response = await handleRequest(new Request(url), context);
    const html = await response.text();
    if (errors.length > 0 || (response.status !== 404 && !response.ok)) {
      throw new Error(`route "${id}" can't be rendered once (status ${response.status})`, { cause: errors[0] });
    }
    return [id, await toDocument(response.status, yieldToContent(html))];
  };
  return new Map(await Promise.all(targets.filter(({ renderOnce }) => renderOnce).map(renderDocument)));
}

/**
 * Nothing that a page shows waits for its scripts, so they may come after all that does. Preloads are urgent
 * unless they say otherwise, and React Router's can't.
 */
function yieldToContent(html: string) {
  return html.replaceAll('<link rel="modulepreload"', '$& fetchpriority="low"');
}

async function toDocument(status: number, html: string): Promise<Document> {
  const identity = Buffer.from(html);
  const bodies: Record<Coding, Buffer> = { ...(await compress(identity)), identity };
  const policy = policyForDocument(html);
  const toVariant = (coding: Coding): Variant => {
    const body = bodies[coding];
    const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
    const notModifiedHeaders = Object.entries({
      ...SECURITY_HEADERS,
      "Content-Security-Policy": policy,
      "Cache-Control": DOCUMENT_CACHING,
      Vary: "Accept-Encoding",
      ETag: etag,
    }).flat();
    const headers = [...notModifiedHeaders, "Content-Type", "text/html; charset=utf-8"];
    if (coding !== "identity") headers.push("Content-Encoding", coding);
    headers.push("Content-Length", String(body.length));
    return { body, etag, headers, notModifiedHeaders };
  };
  return { status, variants: { br: toVariant("br"), gzip: toVariant("gzip"), identity: toVariant("identity") } };
}

/** Answers GET and HEAD from memory. Only a 200 can be "not modified" (RFC 9110 §13.2.1). */
export function sendDocument(document: Document, req: IncomingMessage, res: ServerResponse, requestId: string) {
  const { body, etag, headers, notModifiedHeaders } = document.variants[chooseCoding(req.headers)];
  const id = ["X-Request-Id", requestId];
  if (document.status === 200 && fresh({ "if-none-match": req.headers["if-none-match"] }, { etag })) {
    res.writeHead(304, notModifiedHeaders.concat(id)).end();
  } else {
    res.writeHead(document.status, headers.concat(id)).end(req.method === "HEAD" ? undefined : body);
  }
}
