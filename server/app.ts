import { randomBytes } from "node:crypto";
import { createRequestHandler } from "@react-router/express";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import onHeaders from "on-headers";
import type { Logger } from "pino";
import { RouterContextProvider } from "react-router";
import { isHost } from "./http/request-target.ts";
import { contentSecurityPolicy } from "./middleware/security-headers.ts";
import { ASSETS, serveFiles } from "./middleware/static-files.ts";
import { build, renderContext } from "./pages/build.ts";
import type { Settings } from "./settings.ts";

/** What a loader gives one visitor is nobody else's; a route's own `headers` may say otherwise. */
const RENDERED_CACHING = "private, no-cache";

type Options = { folder: string; files: Set<string>; trust: Settings["TRUST_PROXY"]; log: Logger };

/** The Express application: what is not answered from memory, files first, then rendered pages. */
export function createApplication({ folder, files, trust, log }: Options) {
  const app = express();
  app.disable("x-powered-by");
  app.set("trust proxy", trust);
  app.use(serveFiles(folder, files));
  app.use(ASSETS, (_req, res) => {
    res.status(404).set("Cache-Control", "no-store").type("text").send("Not Found\n");
  });
  app.use(readForwarded(trust));
  app.use(renderPages(log));
  app.use(answerErrors(log));
  return app;
}

/** The adapter makes a URL of what a proxy forwards: of a list it gets the first, and only a valid one. */
function readForwarded(trust: Settings["TRUST_PROXY"]): RequestHandler {
  const isValid = {
    "x-forwarded-host": (host: string) => host !== "" && isHost(host),
    "x-forwarded-proto": (scheme: string) => scheme === "http" || scheme === "https",
  };
  return ({ headers, socket }, _res, next) => {
    const isTrusted = trust(socket.remoteAddress ?? "", 0);
    for (const name of ["x-forwarded-host", "x-forwarded-proto"] as const) {
      const first = headers[name]?.toString().split(",", 1)[0]?.trim() ?? "";
      if (isTrusted && isValid[name](first)) headers[name] = first;
      else delete headers[name];
    }
    next();
  };
}

function renderPages(log: Logger): RequestHandler {
  const render = createRequestHandler({
    build,
    mode: import.meta.env.MODE,
    getLoadContext: (_req, res) => {
      const context = new RouterContextProvider();
      const onError = (err: unknown) => log.error({ err, requestId: res.get("X-Request-Id") }, "render failed");
      context.set(renderContext, { nonce: res.locals.nonce, onError });
      return context;
    },
  });
  return (req, res, next) => {
    // Not in development, where Vite's client writes inline styles of its own.
    if (import.meta.env.PROD) {
      const nonce = randomBytes(16).toString("base64");
      const sources = [`'nonce-${nonce}'`];
      res.set("Content-Security-Policy", contentSecurityPolicy({ scripts: sources, styles: sources }));
      res.locals.nonce = nonce;
    }
    // Set last, because the adapter adds to a header that is there already.
    onHeaders(res, () => {
      if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", RENDERED_CACHING);
    });
    return render(req, res, next);
  };
}

function answerErrors(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    // What broke is the connection: nobody is left to answer, and the access log says so.
    if (error === req.socket.errored) return;
    // The address is no URL (the adapter makes one of it), or a library refuses the request.
    const status = error.code === "ERR_INVALID_URL" ? 400 : (error.status ?? 500);
    if (status >= 500) log.error({ err: error, requestId: res.get("X-Request-Id") }, "request failed");
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.removeHeader("Content-Encoding");
    res.set({ ...error.headers, "Cache-Control": "no-store" });
    res
      .status(status)
      .type("text")
      .send(status >= 500 ? "Internal Server Error\n" : "Bad Request\n");
  };
}
