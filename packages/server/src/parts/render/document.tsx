import { isbot } from "isbot";
import type { ReactNode } from "react";
import { renderToReadableStream } from "react-dom/server";
import { isRouteErrorResponse, type RouterContextProvider } from "react-router";
import { NonceContext } from "../../pages/nonce.ts";
import { OriginContext } from "../../pages/origin.ts";
import { RELEASE_METRIC } from "../../pages/release.ts";
import { findRender } from "./find-render.ts";
import { measure } from "./instrumentations.ts";
import { RENDER_TIMEOUT_MS, STREAM_TIMEOUT_MS } from "./timeouts.ts";

type Options = {
  request: Request;
  status: number;
  headers: Headers;
  /** The context of React Router's `handleRequest`. */
  loadContext: RouterContextProvider;
};

/**
 * Renders the document, for `handleRequest` of `entry.server.tsx`. Adds to React Router's default: a nonce for scripts
 * and styles, the site's origin, errors in the server's log, and the render's duration. If the client leaves, the
 * render stops. Cached pages are sent whole.
 */
export async function renderDocument(
  render: (nonce: string | undefined) => ReactNode,
  { request, status, headers, loadContext }: Options,
) {
  const { nonce, isAnonymous, origin, onError } = findRender(loadContext);
  headers.set("Content-Type", "text/html; charset=utf-8");
  if (request.method === "HEAD") return new Response(null, { status, headers });

  const { signal, end } = limitRender(request.signal);
  const report = (error: unknown) => !request.signal.aborted && onError(error);
  /** The errors before the shell is rendered. If one is the shell's, the render rejects, and React Router calls handleError. */
  const earlyErrors: unknown[] = [];
  let isShellRendered = false;
  const rendering = renderToReadableStream(
    <NonceContext value={nonce}>
      <OriginContext value={origin}>{render(nonce)}</OriginContext>
    </NonceContext>,
    {
      ...(nonce && { nonce }),
      signal,
      onError: (error) => void (isShellRendered ? report(error) : earlyErrors.push(error)),
    },
  );
  const ended = rendering.then((body) => body.allReady).then(() => end(), end);
  measure("render", "", () => ended, { context: loadContext });
  const body = await rendering;
  isShellRendered = true;
  earlyErrors.forEach(report);
  // Crawlers may index only the shell of a stream.
  if (isAnonymous || isbot(request.headers.get("User-Agent"))) await body.allReady;
  return new Response(body, { status, headers });
}

/** Times a render out. The signals of `AbortSignal.any` and `.timeout` would outlive it. */
function limitRender(clientSignal: AbortSignal) {
  const controller = new AbortController();
  const timeOut = () => controller.abort(new DOMException("The render has timed out", "TimeoutError"));
  const timer = setTimeout(timeOut, RENDER_TIMEOUT_MS);
  clientSignal.addEventListener("abort", () => controller.abort(clientSignal.reason));
  return {
    signal: controller.signal,
    /** For `measure`, resolves as React Router's handlers do. */
    end(error?: unknown) {
      clearTimeout(timer);
      return { error: error instanceof Error ? error : undefined };
    },
  };
}

// The further exports of `entry.server.tsx`.

/** Slow data times out after this time, in ms, and its error boundary shows. */
export const streamTimeout = STREAM_TIMEOUT_MS;

type Args = { request: Request; context: RouterContextProvider };

/** Names the release, so that a tab with older code loads its next page as a document (pages/release.ts). */
export function handleDataRequest(response: Response, { context }: Args) {
  response.headers.append("Server-Timing", `${RELEASE_METRIC};desc="${findRender(context).release}"`);
  return response;
}

/** Logs the errors of loaders, actions and renders, except those that are intended. */
export function handleError(error: unknown, { request, context }: Args) {
  const isIntended = isRouteErrorResponse(error) && error.status < 500;
  if (!isIntended && !request.signal.aborted) findRender(context).onError(error);
}
