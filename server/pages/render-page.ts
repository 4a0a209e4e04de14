import { randomUUID } from "node:crypto";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { type RenderPart, renderContext } from "../../app/context.ts";
import { findObstacle } from "../http/cache-control.ts";
import { POLICY_HEADER, replaceNonce } from "../http/content-security-policy.ts";
import { extendSecurityHeaders } from "../http/security-headers.ts";
import { mergeHeaders } from "../http/stored-response.ts";
import { build, findRoute } from "./build.ts";
import { prioritizeContent } from "./prioritize-content.ts";

/** A page, or a page's data, as it is for everybody. */
export type RenderedPage = {
  status: number;
  contentType: string | undefined;
  /** What else the page says in headers, and its policy. */
  headers: Record<string, string>;
  cacheControl: string | undefined;
  body: Buffer;
  /** Whether a loader or middleware has asked for a header, of which there are none. */
  readsHeaders: boolean;
  /** Why it can't be kept, if it can't. */
  obstacle: string | undefined;
};

/** They tell of one message, or of its content. */
const NOT_COPIED = ["cache-control", "content-length", "content-type", "date", "etag", "set-cookie", "vary"];

/** All who ask for a page wait for its render: one that hangs would have them wait for ever. */
const RENDER_TIMEOUT_MS = 10_000;
const TIMED_OUT = new DOMException("The render has timed out", "TimeoutError");

/** What `request.url` starts with where the operator names no origin. */
const UNNAMED_ORIGIN = "http://localhost";

/** Sets what loaders find in their context, beside the server's own. */
export type SetContext = (context: RouterContextProvider) => void;

export type RenderOptions = {
  /** The site's public origin, where the operator names it. */
  origin: string | undefined;
  setContext: SetContext;
  recordPart: (part: RenderPart, route: string, seconds: number) => void;
};

const handleRequest = createRequestHandler(build, import.meta.env.MODE);

/**
 * Renders an address (path and query) for nobody in particular: the request has not one header or cookie of a client.
 * Rejects when anything in the page fails, or takes too long.
 */
export async function renderPage(
  address: string,
  { origin, setContext, recordPart }: RenderOptions,
): Promise<RenderedPage> {
  const { pattern = "", addedHeaders = {} } = findRoute(address.replace(/\?.*/s, ""))?.route ?? {};
  const errors: unknown[] = [];
  const nonce = randomUUID();
  const context = new RouterContextProvider();
  context.set(renderContext, {
    nonce,
    isForEverybody: true,
    origin,
    onError: (error) => errors.push(error),
    record: (part, seconds) => recordPart(part, pattern, seconds),
  });
  setContext(context);
  // Not resolved against the origin, since "//a" is a path here.
  const request = new Request((origin ?? UNNAMED_ORIGIN) + address);
  const areHeadersRead = watchHeaders(request);
  const load = async () => {
    const response = await handleRequest(request, context);
    return { response, body: Buffer.from(await response.arrayBuffer()) };
  };
  const { response, body } = await limitTime(load());
  const { status } = response;
  if (errors.length > 0 || status >= 500) {
    throw new Error(`${address} can't be rendered for everybody (status ${status})`, { cause: errors[0] });
  }
  const contentType = response.headers.get("Content-Type") ?? undefined;
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !NOT_COPIED.includes(name)));
  const cacheControl = response.headers.get("Cache-Control") ?? undefined;
  const page = {
    status,
    contentType,
    headers,
    cacheControl,
    body,
    readsHeaders: areHeadersRead(),
    obstacle: findObstacle(response),
  };
  if (!contentType?.startsWith("text/html")) return page;
  const added = addedHeaders["Content-Security-Policy"];
  const { html, policy } = replaceNonce(prioritizeContent(body.toString()), nonce, added);
  const defaults = { ...extendSecurityHeaders({}, addedHeaders), [POLICY_HEADER]: policy };
  return { ...page, headers: mergeHeaders(defaults, headers), body: Buffer.from(html) };
}

/** Rejects once the time is over. No signal: each that a Request follows takes memory until it is collected. */
async function limitTime<T>(rendering: Promise<T>) {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, RENDER_TIMEOUT_MS, TIMED_OUT);
  });
  return Promise.race([rendering, timedOut]).finally(() => clearTimeout(timer));
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
