import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { HttpError } from "http-errors";
import type { RequestTarget } from "./http/request-target.ts";
import type { RouteEntry } from "./pages/route-entry.ts";

declare global {
  namespace Express {
    /** The results of the middleware for a request. */
    interface Locals {
      requestId: string;
      /** The trace id that the client or the proxy sent. */
      traceId?: string | undefined;
      target: RequestTarget;
      /** The route of the page or its data. Undefined for a file. */
      route: RouteEntry | undefined;
      /** The same for every spelling of a path (route-table.ts). */
      canonicalPath: string;
      /** The route's pattern, for log and metrics. */
      httpRoute: string | undefined;
      /** The nonce of the inline elements of a page that is rendered for this request. */
      nonce?: string;
      /** The loaders, actions and renders that run. */
      running: Set<Promise<unknown>>;
      /** The status of an error response. A route that is still running may change `res.statusCode` later. */
      errorStatus?: number;
      /** Whether a cacheable route is rendered for this client alone, since the cache has no response for the path. */
      isPrivate?: boolean;
    }
  }
}

export type Response = ServerResponse & { locals: Express.Locals };

/** Express's signatures on Node's own request and response. */
export type Middleware = (req: IncomingMessage, res: Response, next: (error?: HttpError) => void) => void;
export type ErrorMiddleware = (error: HttpError, req: IncomingMessage, res: Response) => void;

/** Runs middleware in order, and then a request listener. If one throws or passes on an error, runs `onError`. */
export function chain(middleware: Middleware[], listener: RequestListener, onError: ErrorMiddleware): RequestListener {
  return (req, res) => {
    // Express doesn't replace existing locals.
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
