import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { QueryFilter } from "./http/no-vary-search.ts";
import type { RequestTarget } from "./http/request-target.ts";
import type { MeasuredPart, Trace } from "./pages/context.ts";

// What the parts of a request pass to each other in `res.locals`. Each field has one writer. A field that one other part
// alone reads is here, too: the middleware of a site may run between the two, and Express passes on only `req` and `res`.

declare global {
  namespace Express {
    interface Request {
      /**
       * The last route that Express has matched, with the path that its router is mounted to. Written by express.ts.
       */
      matched?: { route: { path: unknown } | undefined; baseUrl: string };
    }
    interface Locals {
      /** Written by parts/receive/access-log.ts. Read by receive and telemetry. */
      requestId: string;
      /** The trace id that the client or the proxy sent. Written by parts/receive/access-log.ts. Read by telemetry. */
      traceId?: string | undefined;
      /**
       * The parsed request target. Written by parts/receive/reject-malformed.ts. Read by receive, files, page-cache,
       * parts and telemetry.
       */
      target: RequestTarget;
      /**
       * The route of the page or its data. Undefined for a file. Written by parts/receive/set-route.ts. Read by
       * receive, overload, files, page-cache, admit, parts, render and http.
       */
      route: RouteEntry | undefined;
      /**
       * The same for every spelling of a path (site/route-table.ts). Written by parts/receive/set-route.ts. Read by
       * page-cache.
       */
      canonicalPath: string;
      /**
       * The route's pattern, or FILE_ROUTE. Written by parts/receive/set-route.ts. Read by files, parts,
       * render and telemetry.
       */
      httpRoute: string | undefined;
      /** The largest body. Written by overload/body-limit.ts, in front of `receive`. Read by overload. */
      maxBodyBytes?: number;
      /**
       * Whether a handler in front accepts cross-origin requests. Written by parts/admit/check-origin.ts, in front of
       * `admit`. Read by admit.
       */
      acceptsCrossOrigin?: boolean;
      /**
       * The loaders, actions and renders that run. Set once the request has been admitted. Written by
       * overload/hold-slot.ts. Read by overload and render.
       */
      running?: Set<Promise<unknown>>;
      /**
       * Resolves when React Router's adapter has handled the request. Undefined if another part responds. Written by
       * parts/render/request-handler.ts. Read by render and receive.
       */
      ended?: Promise<void>;
      /** Runs a loader, an action or a render in a span. Written by telemetry/tracing.ts. Read by render. */
      trace?: Trace;
      /**
       * Whether the server still waits for a part of the body that it streams. False while it waits for the client to
       * read. Written by parts/render/streams/react-router-node.ts. Read by receive.
       */
      waitsForBody?: boolean;
      /**
       * The loaders, actions and renders that have started. Written by parts/render/load-context.ts. Read by render and
       * receive.
       */
      parts?: MeasuredPart[];
      /**
       * Those of the render for the cache that the request waits for. Written by parts/page-cache/revalidate.ts. Read by
       * receive.
       */
      cachedParts?: MeasuredPart[];
      /** The nonce of the page's inline elements. Written by parts/render/load-context.ts. Read by render and receive. */
      nonce?: string;
      /**
       * The headers of earlier middleware that a page can't have, for a log line. Written by http/page-headers.ts. Read by
       * receive.
       */
      replacedHeaders?: string[];
      /**
       * Whether the response comes from memory with all of its headers. Written by http/stored-response.ts. Read by
       * receive.
       */
      isStored?: boolean;
      /**
       * The status of an error response: a route that runs on may change `res.statusCode`. Written by
       * parts/errors/handle-errors.ts. Read by errors and receive.
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
  /** The response that the build has prerendered, if the path has one. */
  prerendered?: PrerenderedFile;
};

/** A response that the build has prerendered. */
export type PrerenderedFile = {
  /** The URL path of the page, its data or its resource. */
  path: string;
  file: string;
  contentType: string;
  /** The source expressions that allow its inline scripts and styles. */
  inline: { scripts: string[]; styles: string[] };
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
