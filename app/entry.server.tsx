import { isbot } from "isbot";
import { renderToReadableStream } from "react-dom/server";
import {
  createContext,
  type EntryContext,
  isRouteErrorResponse,
  type RouterContextProvider,
  ServerRouter,
} from "react-router";
import { NonceContext } from "./nonce";

/** Time for slow data, in ms: what is still missing then is left to its error boundary. */
export const streamTimeout = 5000;

type Render = {
  /** The nonce of the answer's policy, if it has one. */
  nonce?: string;
  /** Whether the page is kept, and so must be whole. */
  isKept?: boolean;
  onError: (error: unknown) => void;
};

/** What the server tells a render. */
export const renderContext = createContext<Render>();

// This file is ours, and not the framework's default, for two things that the default lacks:
// the scripts and styles in a page carry its nonce, and errors reach the server's log.
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  const { nonce, isKept, onError } = loadContext.get(renderContext);
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
  // A crawler wants the whole page at once.
  if (isKept || isbot(request.headers.get("User-Agent"))) await body.allReady;
  return new Response(body, { status, headers });
}

export function handleError(
  error: unknown,
  { request, context }: { request: Request; context: RouterContextProvider },
) {
  const isAnswer = isRouteErrorResponse(error) && error.status < 500;
  if (!isAnswer && !request.signal.aborted) context.get(renderContext).onError(error);
}
