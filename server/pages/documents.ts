import { randomUUID } from "node:crypto";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { renderContext } from "../../app/context.ts";
import { type ContentCoding, compress } from "../http/content-coding.ts";
import { replaceNonce } from "../http/content-security-policy.ts";
import { build, routes } from "./build.ts";
import type { RouteEntry } from "./route-table.ts";

export type RenderedDocument = { status: number; policy: string; bodies: Record<ContentCoding, Buffer> };

/**
 * Renders the routes that are rendered once, by route id: each at its own pattern, since every address that it
 * matches gives the same document. Rejects when one fails or redirects.
 */
export async function renderDocuments() {
  const handleRequest = createRequestHandler(build);
  const renderDocument = async ({ id, pattern }: RouteEntry): Promise<[string, RenderedDocument]> => {
    const errors: unknown[] = [];
    const context = new RouterContextProvider();
    const nonce = randomUUID();
    context.set(renderContext, { nonce, isPrerendered: true, onError: (error) => errors.push(error) });
    const url = new URL(pattern.replaceAll("?", ""), "http://localhost");
    const response = await handleRequest(new Request(url), context);
    const { html, policy } = replaceNonce(prioritizeContent(await response.text()), nonce);
    if (errors.length > 0 || (response.status !== 404 && !response.ok)) {
      throw new Error(`route "${id}" can't be rendered once (status ${response.status})`, { cause: errors[0] });
    }
    const identity = Buffer.from(html);
    const bodies = { ...(await compress(identity)), identity };
    return [id, { status: response.status, policy, bodies }];
  };
  return new Map(await Promise.all(routes.filter(({ isPrerendered }) => isPrerendered).map(renderDocument)));
}

/**
 * Nothing that a page shows waits for its scripts, so they may come after all that does. Browsers load preloads with
 * high priority unless told otherwise, which React Router's <Scripts> can't.
 */
function prioritizeContent(html: string) {
  return html.replaceAll('<link rel="modulepreload"', '$& fetchpriority="low"');
}
