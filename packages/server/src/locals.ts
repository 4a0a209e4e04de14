import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { QueryFilter } from "./http/no-vary-search.ts";
import type { RequestTarget } from "./http/request-target.ts";
import type { Trace } from "./pages/context.ts";

// What the parts of a request pass to each other in `res.locals`. Each field has one writer.

declare global {
  namespace Express {
    interface Request {
      /**
       * The last route that Express has matched, with the path that its router is mounted to. Written by express.ts.
       */
      matched?: { route: { path: unknown } | undefined; baseUrl: string };
    }
    interface Locals {
      /** Written by `receive`, for the log, `X-Request-Id` and error reports. */
      requestId: string;
      /** The trace id that the client or the proxy sent. Written by `receive`, for the log. */
      traceId?: string | undefined;
      /** The parsed request target. Written by `receive`, for `files`, `pageCache`, tracing and the log. */
      target: RequestTarget;
      /**
       * Whether the client has sent a path that can't be decoded: the target has it escaped. Written and read by
       * `receive`.
       */
      isEscaped: boolean;
      /**
       * Another spelling of the path (parts/receive/find-spelling.ts). Written by `receive`, for `files`, which
       * redirects to it.
       */
      spelling: string | undefined;
      /** The route of the page or its data. Undefined for a file. Written by `receive`, for every part behind it. */
      route: RouteEntry | undefined;
      /** The same for every spelling of a path (site/route-table.ts). Written by `receive`, for `pageCache`. */
      canonicalPath: string;
      /** The route's pattern, or FILE_ROUTE. Written by `receive`, for all behind it, and for the log. */
      httpRoute: string | undefined;
      /** The largest body. Written by `maxBodyBytes` in front of `receive`, for `receive` and `admit`. */
      maxBodyBytes?: number;
      /** Whether a handler in front accepts cross-origin requests. Written by `acceptsCrossOrigin`, for `admit`. */
      acceptsCrossOrigin?: boolean;
      /** The loaders, actions and renders that run. Written by `admit`, for React Router's handler. */
      running?: Set<Promise<unknown>>;
      /** Resolves when React Router's adapter has handled the request. By React Router's handler, for its context. */
      ended?: Promise<void>;
      /** Runs a loader, an action or a render in a span. Written by `traceRequests`, for React Router's handler. */
      trace?: Trace;
      /** The nonce of the page's inline elements. Written by React Router's handler, for the default headers. */
      nonce?: string;
      /**
       * Whether a cacheable page is rendered for this client alone. Written by React Router's handler, and by
       * `handleErrors` if the error page takes its place, for the default headers.
       */
      isPrivate?: boolean;
      /**
       * The headers of earlier middleware that a page can't have. Written where a page's head is made
       * (http/page-headers.ts), for the default headers' log line.
       */
      replacedHeaders?: string[];
      /**
       * Whether the response comes from memory with all of its headers. Written by `sendStored`, for the default
       * headers.
       */
      isStored?: boolean;
      /**
       * The status of an error response: a route that runs on may change `res.statusCode`. Written by `handleErrors` and,
       * at the limit of connections, by overload/connections.ts, for the log.
       */
      errorStatus?: number;
    }
  }
}

/** The `http.route` of a file. */
export const FILE_ROUTE = "file";

/** The properties of a route that the server uses. */
export type RouteEntry = {
  id: string;
  /** Its id and those of its parent routes, from the root. */
  branch: string[];
  /** The pattern of its path, from the root. */
  pattern: string;
  /** Whether its path, or that of a parent route, is case-sensitive. */
  isCaseSensitive: boolean;
  cacheRule: CacheRule | undefined;
  /** The path that is rendered and cached for every path that the route matches, if it sets one. */
  cacheKey: string | undefined;
  /** Whether it, or a parent route, has data. */
  hasData: boolean;
  /** Whether it has no component and no ErrorBoundary: its loader and action respond themselves. */
  isResource: boolean;
  /** The methods of its loader and action. A route without a path, such as an index, also has its parent's action. */
  methods: string[];
  /** The methods of cross-origin requests that its action accepts (`handle.acceptsCrossOrigin`). */
  acceptsCrossOrigin: string[];
  /** The largest body, if it or a parent route sets it (`handle.maxBodyBytes`). URL-encoded forms: at most 100 KB. */
  maxBodyBytes: number | undefined;
  /** The additions of it and its parent routes to the security headers (`handle.securityHeaders`). */
  addedHeaders: AddedHeaders;
};

/** How a route is cached: its `headers` export sets `s-maxage`. */
export type CacheRule = {
  /** The default headers of its responses. */
  headers: Headers;
  filterQuery: QueryFilter;
  /** The variants of each response, if the route sets `handle.variants`. */
  variants: Variants | undefined;
};

/** The finite set of request headers that a cached page is rendered with (site/variants.ts). */
export type Variants = {
  /** The names of the headers, for `Vary`. */
  vary: string;
  /** The headers of each variant, by what its cache key has behind "#". The first is the default. */
  headers: Map<string, Record<string, string>>;
  /** Chooses the variant for a client's headers. */
  choose: (headers: IncomingHttpHeaders) => string;
  /** Whether `Vary` suffices: without cookies, which differ for each client, and headers that middleware has set. */
  isForSharedCaches: (req: Pick<IncomingMessage, "headers" | "headersDistinct">) => boolean;
};

/** A route's additions to the headers of its pages, each in the header's own syntax. */
export type AddedHeaders = Record<string, string>;
