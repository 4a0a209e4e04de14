import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import type { ClientFiles } from "../files/client-files.ts";
import type { Metrics } from "../operate/metrics.ts";
import type { Pages } from "../routes/pages.ts";
import type { SecurityHeaders } from "../security/security-headers.ts";
import { accessLog, type TrustProxy } from "./access-log.ts";
import { defaultHeaders } from "./default-headers.ts";
import { matchRoute } from "./match-route.ts";
import { rejectMalformed } from "./reject-malformed.ts";

type Options = {
  log: Logger;
  metrics: Metrics;
  trustProxy: TrustProxy;
  securityHeaders: SecurityHeaders;
  files: ClientFiles;
  pages: Pages;
  /** Rejects a body that is too large, and admits others before anything reads them. */
  admitBody: RequestHandler;
  handleErrors: ErrorRequestHandler;
};

/** What every request gets first. One handler, since Express takes more CPU time for each. */
export function receive({
  log,
  metrics,
  trustProxy,
  securityHeaders,
  files,
  pages,
  admitBody,
  handleErrors,
}: Options): RequestHandler {
  const logResponse = accessLog({ log, recordRequest: metrics.recordRequest, trustProxy });
  const completeHeaders = defaultHeaders(securityHeaders);
  const setRoute = matchRoute(files, pages);
  return (req, res, next) => {
    logResponse(req, res);
    // A write after the end emits an error, and so does each further one. Without a listener, it would end the process.
    res.once("error", (error) => handleErrors(error, req, res, next)).on("error", () => {});
    completeHeaders(req, res);
    const error = rejectMalformed(req, res);
    if (error) return next(error);
    setRoute(res);
    admitBody(req, res, next);
  };
}
