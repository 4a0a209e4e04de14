import type { Trace } from "./app/context.ts";
import type { RequestTarget } from "./http/request-target.ts";
import type { RouteEntry } from "./routes/route-entry.ts";

declare global {
  namespace Express {
    interface Request {
      /** The last route that Express has matched, with the path that its router is mounted to (express.ts). */
      matched?: { route: { path: unknown } | undefined; baseUrl: string };
    }
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
      /** The largest body, if middleware in front of `receive` has set it (body-limit.ts). */
      maxBodyBytes?: number;
      /** Whether a handler in front accepts cross-origin requests (check-origin.ts). */
      acceptsCrossOrigin?: boolean;
      /** The nonce of the inline elements of a page that is rendered for this request. */
      nonce?: string;
      /** The loaders, actions and renders that run. Set once the request is admitted. */
      running?: Set<Promise<unknown>>;
      /** Runs a loader, an action or a render in a span (tracing/). */
      trace?: Trace;
      /** The status of an error response. A route that is still running may change `res.statusCode` later. */
      errorStatus?: number;
      /** Whether a cacheable route is rendered for this client alone, since the cache has no response for the path. */
      isPrivate?: boolean;
      /** Whether the response comes from memory, with all of its headers. */
      isStored?: boolean;
    }
  }
}
