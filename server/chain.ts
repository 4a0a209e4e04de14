import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { HttpError } from "http-errors";
import type { RequestTarget } from "./http/request-target.ts";
import type { RouteEntry } from "./pages/route-entry.ts";

declare global {
  namespace Express {
    /** What the middleware has found out about a request. */
    interface Locals {
      requestId: string;
      /** Of the trace that the client or the proxy says the request belongs to. */
      traceId?: string | undefined;
      target: RequestTarget;
      /** The route whose page or data is asked for; none for a file. */
      route: RouteEntry | undefined;
      /** The spelling of the path that all equal paths share. */
      canonicalPath: string;
      /** What log and metrics call the route: its pattern. */
      httpRoute: string | undefined;
      /** The nonce of the inline elements of a page that is rendered for this request. */
      nonce?: string;
      /** The Content-Security-Policy with that nonce. */
      policy?: string;
      /** Whether the response is this client's alone, whatever the page says: it couldn't be rendered for everybody. */
      isPrivate?: boolean;
    }
  }
}

export type Response = ServerResponse & { locals: Express.Locals };

/** Express's signatures on Node's own request and response. */
export type Middleware = (req: IncomingMessage, res: Response, next: (error?: HttpError) => void) => void;
export type ErrorMiddleware = (error: HttpError, req: IncomingMessage, res: Response) => void;

/** Runs middleware in order, then a request listener, unless one of them has sent the response, or thrown or passed on an error. */
export function chain(middleware: Middleware[], listener: RequestListener, onError: ErrorMiddleware): RequestListener {
  return (req, res) => {
    // Express keeps the locals that a response has.
    const response = Object.assign(res, { locals: {} as Express.Locals });
    const run = (index: number, error?: HttpError) => {
      const current = middleware[index];
      if (error) onError(error, req, response);
      else if (current) current(req, response, (error) => run(index + 1, error));
      else listener(req, res);
    };
    try {
      run(0);
    } catch (error) {
      onError(error as HttpError, req, response);
    }
  };
}
