import { randomUUID } from "node:crypto";
import { createRequestHandler } from "react-router";
import { mergeHeaders } from "../files/stored-response.ts";
import { findUncacheableReason } from "../http/cache-control.ts";
import { encodeLocation } from "../http/encode-location.ts";
import type { Pages } from "../routes/pages.ts";
import type { RouteEntry } from "../routes/route-entry.ts";
import { createHandlers } from "../routes/route-handlers.ts";
import { replaceNonce } from "../security/content-security-policy.ts";
import type { SecurityHeaders } from "../security/security-headers.ts";
import type { CreateContext } from "./context.ts";
import { inTime } from "./in-time.ts";
import { prioritizeContent } from "./prioritize-content.ts";
import { ANONYMOUS_RENDER_TIMEOUT_MS } from "./timeouts.ts";

/** Not stored: headers that differ for each response, or that the cache sets itself. */
const NOT_COPIED = ["content-length", "content-type", "date", "etag", "set-cookie", "vary"];

/** The origin of `request.url` if the operator sets none. */
const DEFAULT_ORIGIN = "http://localhost";

type Options = {
  pages: Pages;
  createContext: CreateContext;
  securityHeaders: SecurityHeaders;
  /** The site's public origin, if the operator sets it. */
  origin: string | undefined;
};

/**
 * The returned function renders a path, with its query, for a request without cookies and client headers. It rejects if
 * anything in the page fails or takes too long.
 */
export function createAnonymousRender({ pages, createContext, securityHeaders, origin }: Options) {
  const handlerOf = createHandlers(pages.build, (build) => createRequestHandler(build, process.env.NODE_ENV));

  return async (url: string, { id, pattern, cacheRule, addedHeaders }: RouteEntry) => {
    const errors: unknown[] = [];
    const nonce = randomUUID();
    const onError = (error: unknown) => errors.push(error);
    const context = createContext({ nonce, isAnonymous: true, httpRoute: pattern, onError });
    // Concatenated: `new URL("//a", origin)` would take "a" for the host.
    const request = new Request((origin ?? DEFAULT_ORIGIN) + url);
    const areHeadersRead = watchHeaders(request);
    const load = async () => {
      const response = await handlerOf(id)(request, context);
      return { response, body: Buffer.from(await response.arrayBuffer()) };
    };
    const { response, body } = await inTime(load(), ANONYMOUS_RENDER_TIMEOUT_MS);
    const { status } = response;
    if (errors.length > 0 || status >= 500) {
      throw new Error(`${url} can't be rendered anonymously (status ${status})`, { cause: errors[0] });
    }
    const headers = new Headers(cacheRule?.headers);
    for (const [name, value] of response.headers) headers.set(name, value);
    const location = headers.get("Location");
    if (location !== null) headers.set("Location", encodeLocation(location));
    const contentType = headers.get("Content-Type") ?? undefined;
    const { html, inline } = contentType?.startsWith("text/html")
      ? replaceNonce(prioritizeContent(body.toString()), nonce)
      : { html: body, inline: { scripts: [], styles: [] } };
    return {
      status,
      contentType,
      headers: mergeHeaders(
        securityHeaders.ofPage(addedHeaders, inline),
        Object.fromEntries([...headers].filter(([name]) => !NOT_COPIED.includes(name))),
      ),
      body: Buffer.from(html),
      /** Whether a loader or middleware has read `request.headers`, which are empty here. */
      readsHeaders: areHeadersRead(),
      uncacheableReason: findUncacheableReason(status, headers),
    };
  };
}

export type AnonymousRender = ReturnType<typeof createAnonymousRender>;

/** A response of a cached route, the same for all clients. */
export type AnonymousResponse = Awaited<ReturnType<AnonymousRender>>;

/** The returned function returns true once the request's headers have been read. */
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
