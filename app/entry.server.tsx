import { isbot } from "isbot";
import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, isRouteErrorResponse, type RouterContextProvider, ServerRouter } from "react-router";
import { renderContext } from "./context";
import { NonceContext } from "./nonce";

/** Slow data has this long, in ms: what is missing then is left to its error boundary. */
export const streamTimeout = 5000;

// Replaces the framework's default for two things that it lacks: the scripts and styles in a page
// carry its nonce, and errors reach the server's log.
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  const { nonce, isPrerendered, onError } = loadContext.get(renderContext);
  headers.set("Content-Type", "text/html; charset=utf-8");
  if (request.method === "HEAD") return new Response(null, { status, headers });

  let shellSent = false;
  const body = await renderToReadableStream(
    <NonceContext value={nonce}>
      <ServerRouter context={routerContext} url={request.url} {...(nonce && { nonce })} />
    </NonceContext>,
    {
      ...(nonce && { nonce }),
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(streamTimeout + 1000)]),
      // An error of the shell rejects, and comes to handleError.
      onError: (error) => {
        if (shellSent && !request.signal.aborted) onError(error);
      },
    },
  );
  shellSent = true;
  // Crawlers read no streams.
  if (isPrerendered || isbot(request.headers.get("User-Agent"))) await body.allReady;
  return new Response(body, { status, headers });
}

export function handleError(
  error: unknown,
  { request, context }: { request: Request; context: RouterContextProvider },
) {
  const isIntended = isRouteErrorResponse(error) && error.status < 500;
  if (!isIntended && !request.signal.aborted) context.get(renderContext).onError(error);
}
