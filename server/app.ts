import type { RequestListener } from "node:http";
import express from "express";
import { type AccessLogOptions, accessLog } from "./middleware/access-log.ts";
import { chain } from "./middleware/chain.ts";
import { errorHandler } from "./middleware/error-handler.ts";
import { forwarded } from "./middleware/forwarded.ts";
import { matchRoute } from "./middleware/match-route.ts";
import { pageCache } from "./middleware/page-cache.ts";
import { rejectMalformed } from "./middleware/reject-malformed.ts";
import { render } from "./middleware/render.ts";
import { requestId } from "./middleware/request-id.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { listFiles, staticFiles } from "./middleware/static-files.ts";
import { findRoute } from "./pages/build.ts";
import { renderDocuments } from "./pages/documents.ts";

type Options = AccessLogOptions & {
  /** The build's files for the browser; none in development, where Vite serves them. */
  clientFolder?: string;
  /** Whether pages that are rendered once are kept; without, each request renders its page. */
  cachesPages?: boolean;
};

/** The application as one request listener: the middleware in the order in which a request meets it. */
export async function createApp({ log, recordRequest, trustProxy, clientFolder, cachesPages = true }: Options) {
  const files = clientFolder === undefined ? new Set<string>() : listFiles(clientFolder);
  const app = express();
  // What comes first needs nothing of Express, whose dispatch alone costs four times a response from memory.
  const listener = chain(
    [
      requestId,
      accessLog({ log, recordRequest, trustProxy }),
      rejectMalformed,
      matchRoute({ findRoute, files }),
      ...(cachesPages ? [pageCache(await renderDocuments())] : []),
    ],
    app as RequestListener,
  );
  app.disable("x-powered-by");
  app.set("trust proxy", trustProxy);
  app.use(securityHeaders);
  if (clientFolder !== undefined) app.use(staticFiles(clientFolder, files));
  app.use(forwarded(trustProxy));
  app.use(render(log));
  app.use(errorHandler(log));
  return listener;
}
