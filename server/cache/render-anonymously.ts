import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { cacheContext, renderContext } from "../../app/context.ts";
import { findUncacheableReason } from "../http/cache-control.ts";
import { inTime } from "../in-time.ts";
import type { Metrics } from "../ops/metrics.ts";
import { build } from "../pages/build.ts";
import type { RouteEntry } from "../pages/route-entry.ts";
import { createHandlers } from "../pages/route-handlers.ts";
import { replaceNonce } from "../response/content-security-policy.ts";
import { extendSecurityHeaders } from "../response/security-headers.ts";
import { mergeHeaders } from "../response/stored-response.ts";
import type { ServerSettings } from "../settings.ts";
import type { Cache } from "./cache.ts";
import { prioritizeContent } from "./prioritize-content.ts";

/** Not stored: headers that differ for each response, or that the cache sets itself. */
const NOT_COPIED = ["content-length", "content-type", "date", "etag", "set-cookie", "vary"];

/** How long a render may take. All requests for its cache key wait for it. */
const RENDER_TIMEOUT_MS = 10_000;

/** The origin of `request.url` if the operator sets none. */
const DEFAULT_ORIGIN = "http://localhost";

export type RenderOptions = {
  settings: ServerSettings;
  cache: Cache;
  /** Sets the services' values in the context of loaders. */
  setContext: (context: RouterContextProvider) => void;
  log: Logger;
  metrics: Metrics;
};

const handlerOf = createHandlers(build, (build) => createRequestHandler(build, import.meta.env.MODE));

/**
 * Renders a path, with its query, for a request without cookies and client headers. Rejects if anything in the page
 * fails or it takes longer than 10 s.
 */
export async function renderAnonymously(
  url: string,
  { id, pattern, cacheRule, addedHeaders }: RouteEntry,
  { settings, cache, setContext, metrics }: RenderOptions,
) {
  const origin = settings.ORIGIN?.origin;
  const errors: unknown[] = [];
  const nonce = randomUUID();
  const context = new RouterContextProvider();
  context.set(renderContext, {
    nonce,
    isAnonymous: true,
    origin,
    onError: (error) => errors.push(error),
    record: (part, seconds) => metrics.recordPart(part, pattern, seconds),
  });
  context.set(cacheContext, cache);
  setContext(context);
  // Concatenated: `new URL("//a", origin)` would take "a" for the host.
  const request = new Request((origin ?? DEFAULT_ORIGIN) + url);
  const areHeadersRead = watchHeaders(request);
  const load = async () => {
    const response = await handlerOf(id)(request, context);
    return { response, body: Buffer.from(await response.arrayBuffer()) };
  };
  const { response, body } = await inTime(load(), RENDER_TIMEOUT_MS);
  const { status } = response;
  if (errors.length > 0 || status >= 500) {
    throw new Error(`${url} can't be rendered anonymously (status ${status})`, { cause: errors[0] });
  }
  const headers = new Headers(cacheRule?.headers);
  for (const [name, value] of response.headers) headers.set(name, value);
  const contentType = headers.get("Content-Type") ?? undefined;
  const { html, inline } = contentType?.startsWith("text/html")
    ? replaceNonce(prioritizeContent(body.toString()), nonce)
    : { html: body, inline: { scripts: [], styles: [] } };
  return {
    status,
    contentType,
    headers: mergeHeaders(
      extendSecurityHeaders({}, addedHeaders, inline),
      Object.fromEntries([...headers].filter(([name]) => !NOT_COPIED.includes(name))),
    ),
    body: Buffer.from(html),
    /** Whether a loader or middleware has read `request.headers`, which are empty here. */
    readsHeaders: areHeadersRead(),
    uncacheableReason: findUncacheableReason(status, headers),
  };
}

/** A response of a cached route, the same for all clients. */
export type AnonymousResponse = Awaited<ReturnType<typeof renderAnonymously>>;

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
