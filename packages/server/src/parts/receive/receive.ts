import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import type { TrustProxy } from "../../http/client-address.ts";
import type { Pages } from "../../site/pages.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";
import { accessLog } from "./access-log.ts";
import { defaultHeaders } from "./default-headers.ts";
import { rejectMalformed } from "./reject-malformed.ts";
import type { RecordRequest } from "./request-metrics.ts";
import { createSetRoute, type FindFile } from "./set-route.ts";

type Options = {
  log: Logger;
  recordRequest: RecordRequest;
  trustProxy: TrustProxy;
  securityHeaders: SecurityHeaders;
  files: FindFile;
  pages: Pages;
  /** Rejects a body that is too large, and admits others before anything reads them. */
  admitBody: RequestHandler;
  handleErrors: ErrorRequestHandler;
};

/** What every request gets first. One handler, since Express takes more CPU time for each. */
export function receive(options: Options): RequestHandler {
  const logResponse = accessLog(options);
  const completeHeaders = defaultHeaders(options.securityHeaders, options.log);
  const setRoute = createSetRoute(options.files, options.pages);
  return (req, res, next) => {
    logResponse(req, res);
    // A write after the end emits an error, and so does each further one. Without a listener, it would end the process.
    res.once("error", (error) => options.handleErrors(error, req, res, next)).on("error", () => {});
    completeHeaders(req, res);
    const error = rejectMalformed(req, res, options.pages.base);
    if (error) return next(error);
    setRoute(res);
    options.admitBody(req, res, next);
  };
}
