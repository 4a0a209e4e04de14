import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import { createRequestHandler } from "react-router";
import { findUncacheableReason } from "../../http/cache-control.ts";
import { encodeLocation } from "../../http/encode-location.ts";
import { mergeHeaders } from "../../http/stored-response.ts";
import type { RouteEntry } from "../../locals.ts";
import { inTime } from "../../overload/index.ts";
import type { MeasuredPart } from "../../pages/context.ts";
import { replaceNonce } from "../../site/content-security-policy.ts";
import type { Pages } from "../../site/pages.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";
import type { CreateContext } from "./context.ts";
import { prioritizeContent } from "./prioritize-content.ts";
import { readPrerendered } from "./read-prerendered.ts";
import { createHandlers } from "./route-handlers.ts";
import { ANONYMOUS_RENDER_TIMEOUT_MS } from "./timeouts.ts";
import { cancelUnreadBodies } from "./unread-bodies.ts";

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
 * The returned function renders the response for a cache key: a path with its query and perhaps a variant. The request
 * has no cookies and client headers, except those of the variant. It rejects if anything in the page fails or takes too
 * long. It adds the loaders and renders that start to `parts`.
 */
export function createAnonymousRender({ pages, createContext, securityHeaders, origin }: Options) {
  const mode = pages.isProduction ? "production" : "development";
  const handlerOf = createHandlers(pages.build, (build) => createRequestHandler(cancelUnreadBodies(build), mode));

  return async (key: string, route: RouteEntry, parts: MeasuredPart[] = []) => {
    const { id, pattern, cacheRule, addedHeaders, prerendered } = route;
    if (prerendered) return readPrerendered(prerendered, route, securityHeaders, pages.build.assets.version);
    const errors: unknown[] = [];
    const nonce = randomUUID();
    const onError = (error: unknown) => errors.push(error);
    const reading = new AbortController();
    const ended = new Promise<void>((resolve) => reading.signal.addEventListener("abort", () => resolve()));
    const context = createContext({ nonce, isAnonymous: true, httpRoute: pattern, onError, ended, parts });
    const [url = "", variant = ""] = key.split("#");
    const ownHeaders = cacheRule?.variants?.headers.get(variant) ?? {};
    // Concatenated: `new URL("//a", origin)` would take "a" for the host.
    const request = new Request((origin ?? DEFAULT_ORIGIN) + url, { headers: ownHeaders });
    const areHeadersRead = watchHeaders(request, Object.keys(ownHeaders));
    const load = async () => {
      const response = await handlerOf(id)(request, context);
      return { response, body: await readBody(response, reading.signal) };
    };
    // After a timeout, the rest of the body isn't read, and a response that comes later is cancelled.
    const { response, body } = await inTime(load(), ANONYMOUS_RENDER_TIMEOUT_MS)
      .catch((error) => {
        throw errors[0] ?? findCause(parts, error);
      })
      .finally(() => reading.abort());
    const { status } = response;
    if (errors.length > 0) throw errors[0];
    if (status >= 500) throw new Error(`the page has status ${status}`);
    const headers = new Headers(cacheRule?.headers);
    for (const [name, value] of response.headers) headers.set(name, value);
    const location = headers.get("Location");
    if (location !== null) headers.set("Location", encodeLocation(location));
    const contentType = headers.get("Content-Type") ?? undefined;
    const { entry, url: manifest } = pages.build.assets;
    const { html, inline } = contentType?.startsWith("text/html")
      ? replaceNonce(prioritizeContent(body.toString(), entry.module, manifest), nonce, entry.module)
      : { html: body, inline: { scripts: [], styles: [] } };
    return {
      status,
      contentType,
      headers: mergeHeaders(
        securityHeaders.ofPage(addedHeaders, inline),
        Object.fromEntries([...headers].filter(([name]) => !NOT_COPIED.includes(name))),
      ),
      body: Buffer.from(html),
      /** Whether a loader or middleware has read `request.headers`, beside those of the variant. */
      readsHeaders: areHeadersRead(),
      uncacheableReason: findUncacheableReason(status, headers, cacheRule?.variants?.vary),
    };
  };
}

/** The error of a part, which React Router reports once all loaders have ended, or else what has not ended in time. */
function findCause(parts: MeasuredPart[], error: Error) {
  const failed = parts.find((part) => part.error !== undefined);
  if (failed) return failed.error;
  const running = parts.filter(({ endedAt }) => endedAt === undefined).map(({ name }) => name);
  return running.length > 0 ? new Error(`${error.message}: ${running.join(", ")}`, { cause: error }) : error;
}

async function readBody({ body }: Response, signal: AbortSignal) {
  return body ? buffer(Readable.fromWeb(body as ReadableStream, { signal })) : Buffer.alloc(0);
}

/** The returned function returns true once the request's headers have been read, beside the `known` ones. */
function watchHeaders(request: Request, known: string[]) {
  const { headers } = request;
  let areRead = false;
  const get = () => {
    areRead ||= known.length === 0;
    return headers;
  };
  headers.get = (name) => {
    areRead ||= !known.includes(name.toLowerCase());
    return Headers.prototype.get.call(headers, name);
  };
  Object.defineProperty(request, "headers", { get });
  return () => areRead;
}
