import { assets } from "virtual:react-router/server-build";
import { isbot } from "isbot";
import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, isRouteErrorResponse, type RouterContextProvider, ServerRouter } from "react-router";
import { tracing } from "../server/tracing/tracing";
import { OriginContext } from "./components/share-tags";
import { renderContext } from "./context";
import { measureRender } from "./instrumentations";
import { NonceContext } from "./nonce";
import { RELEASE_METRIC } from "./release";

export { instrumentations } from "./instrumentations";

/** Slow data times out after this time, in ms, and its error boundary shows. */
export const streamTimeout = 5000;

// Adds to the framework's default: a nonce for scripts and styles, the site's origin, errors in the server's log, and
// the render's duration. If the client leaves, the render stops. Cached pages are sent whole.
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  const { nonce, isAnonymous, origin, onError } = loadContext.get(renderContext);
  headers.set("Content-Type", "text/html; charset=utf-8");
  if (request.method === "HEAD") return new Response(null, { status, headers });

  const { signal, end } = limitRender(request.signal);
  let isShellRendered = false;
  const rendering = renderToReadableStream(
    <NonceContext value={nonce}>
      <OriginContext value={origin}>
        <ServerRouter context={routerContext} url={request.url} {...(nonce && { nonce })} />
      </OriginContext>
    </NonceContext>,
    {
      ...(nonce && { nonce }),
      signal,
      // An error of the shell rejects the render, so React Router calls handleError.
      onError: (error) => {
        if (isShellRendered && !request.signal.aborted) onError(error);
      },
    },
  );
  const ended = rendering.then((body) => body.allReady).then(() => end(), end);
  measureRender(() => ended, { context: loadContext });
  tracing.render(ended);
  const body = await rendering;
  isShellRendered = true;
  // Crawlers may index only the shell of a stream.
  if (isAnonymous || isbot(request.headers.get("User-Agent"))) await body.allReady;
  return new Response(body, { status, headers });
}

/** Names the release, so that a tab with older code loads its next page as a document (release.ts). */
export function handleDataRequest(response: Response) {
  response.headers.append("Server-Timing", `${RELEASE_METRIC};desc="${assets.version}"`);
  return response;
}

/** Times a render out. The signals of `AbortSignal.any` and `.timeout` would outlive it. */
function limitRender(clientSignal: AbortSignal) {
  const controller = new AbortController();
  const timeOut = () => controller.abort(new DOMException("The render has timed out", "TimeoutError"));
  const timer = setTimeout(timeOut, streamTimeout + 1000);
  clientSignal.addEventListener("abort", () => controller.abort(clientSignal.reason));
  return {
    signal: controller.signal,
    end(error?: unknown) {
      clearTimeout(timer);
      return error instanceof Error ? error : undefined;
    },
  };
}

export function handleError(
  error: unknown,
  { request, context }: { request: Request; context: RouterContextProvider },
) {
  const isIntended = isRouteErrorResponse(error) && error.status < 500;
  if (!isIntended && !request.signal.aborted) context.get(renderContext).onError(error);
}
