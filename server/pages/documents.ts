import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { renderContext } from "../../app/context.ts";
import { type ContentCoding, compress } from "../http/content-coding.ts";
import { replaceNonce } from "../http/content-security-policy.ts";
import { build, findFile, routes } from "./build.ts";
import type { RouteEntry } from "./route-table.ts";

export type RenderedDocument = {
  status: number;
  /** What the route's own `headers` say. */
  headers: Record<string, string>;
  policy: string;
  bodies: Record<ContentCoding, Buffer>;
};

/** What can't be the same for every visitor, or depends on the content coding that a visitor gets. */
const REFUSED_HEADERS = ["Set-Cookie", "Vary", "ETag", "Content-Encoding", "Content-Length", "Transfer-Encoding"];

const READS_HEADERS =
  "a loader or middleware of this route, or of one around it, reads the request's headers, but the page is rendered " +
  "once: every visitor gets that of one without cookies (docs/sign-in-and-forms.md)";

/** The routes that are rendered once. Throws for one that has another document at each of its addresses. */
export function listRenderedOnce() {
  const renderedOnce = routes.filter(({ isPrerendered }) => isPrerendered);
  for (const { id, pattern, hasOneDocument } of renderedOnce) {
    if (!hasOneDocument) throw new Error(`${findFile(id)} can't be rendered once: the pages of ${pattern} differ`);
  }
  return renderedOnce;
}

/**
 * Renders routes that are rendered once, by route id: each at its own pattern, since every address that it
 * matches gives the same document. Rejects when one fails, redirects, or says in a header what it can't.
 */
export async function renderDocuments(renderedOnce: RouteEntry[], log: Logger) {
  const handleRequest = createRequestHandler(build);
  const renderDocument = async ({ id, pattern }: RouteEntry): Promise<[string, RenderedDocument]> => {
    const file = findFile(id);
    const errors: unknown[] = [];
    const context = new RouterContextProvider();
    const nonce = randomUUID();
    context.set(renderContext, { nonce, isPrerendered: true, onError: (error) => errors.push(error) });
    const request = new Request(new URL(pattern.replaceAll("?", ""), "http://localhost"));
    const readsHeaders = watchHeaders(request);
    const response = await handleRequest(request, context);
    const { status, ok } = response;
    const { html, policy } = replaceNonce(prioritizeContent(await response.text()), nonce);
    const refused = REFUSED_HEADERS.filter((name) => response.headers.has(name));
    if (errors.length > 0 || (status !== 404 && !ok) || refused.length > 0) {
      const reason = [`status ${status}`, ...refused].join(", ");
      throw new Error(`${file} can't be rendered once (${reason})`, { cause: errors[0] });
    }
    if (readsHeaders()) log.warn({ file }, READS_HEADERS);
    const { "content-type": _, ...headers } = Object.fromEntries(response.headers);
    const identity = Buffer.from(html);
    const bodies = { ...(await compress(identity)), identity };
    return [id, { status, headers, policy, bodies }];
  };
  return new Map(await Promise.all(renderedOnce.map(renderDocument)));
}

/** Returns whether the headers of a request, a cookie among them, have been asked for since. */
function watchHeaders(request: Request) {
  const { headers } = request;
  let areRead = false;
  const get = () => {
    areRead = true;
    return headers;
  };
  Object.defineProperty(request, "headers", { get });
  return () => areRead;
}

/**
 * Nothing that a page shows waits for its scripts, so they may come after all that does. Browsers load preloads with
 * high priority unless told otherwise, which React Router's <Scripts> can't.
 */
function prioritizeContent(html: string) {
  return html.replaceAll('<link rel="modulepreload"', '$& fetchpriority="low"');
}
