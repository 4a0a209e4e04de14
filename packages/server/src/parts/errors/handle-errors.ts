import { STATUS_CODES } from "node:http";
import type { ErrorRequestHandler } from "express";
import { isHttpError } from "http-errors";
import type { Logger } from "pino";
import { hasBody } from "../../http/request-target.ts";
import { linger } from "../../overload/index.ts";
import { limitRate } from "../../telemetry/limit-rate.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";

/** The headers of the failed response's content, and its cookies, are removed. Others, such as a rate limit's, stay. */
const CONTENT_HEADERS = /^(accept-ranges|age|cache-control|content-.*|etag|last-modified|set-cookie)$/;
/** What users without scripts read. The browser's Back shows their form again. */
const REASONS: Record<number, string> = {
  413: "This is too large to be sent. Go back, shorten the text or choose a smaller file, and send it again.",
};
/** Lines per second. */
const MAX_ERRORS_LOGGED = 10;

/** Sends errors as plain text, and logs those that aren't the client's fault. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  const logError = limitRate(MAX_ERRORS_LOGGED, (fields: object) => log.error(fields, "request failed"));
  // Express recognises error handlers by their four parameters.
  return (error, req, res, _next) => {
    const hasLeft = (res.closed && !res.writableFinished) || error === req.socket.errored || error === req.errored;
    // After a 413 the route may still be running, and fail to respond.
    if (hasLeft || res.locals.errorStatus !== undefined) return;
    const status = findStatus(error);
    const headers = isHttpError(error) ? error.headers : undefined;
    if (status >= 500 && !error?.expose) logError({ err: error, ...toLogFields(res) });
    if (res.writableEnded) return; // The client has its response.
    if (res.headersSent) return res.destroy();
    res.locals.errorStatus = status;
    const body = `${REASONS[status] ?? STATUS_CODES[status]}\n`;
    for (const name of res.getHeaderNames()) if (CONTENT_HEADERS.test(name)) res.removeHeader(name);
    res.writeHead(status, {
      ...headers,
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
    });
    const isClosing = !res.shouldKeepAlive || headers?.Connection === "close";
    if (req.complete || !hasBody(req) || !isClosing) return res.end(req.method === "HEAD" ? undefined : body);
    res.write(body);
    linger(req, () => res.end());
  };
}

/** The status of an error response. Anything can be thrown. */
function findStatus(error: { code?: unknown; status?: unknown } | undefined) {
  // React Router's adapter throws ERR_INVALID_URL if it can't make a URL of host and target.
  if (error?.code === "ERR_INVALID_URL") return 400;
  const status = Number(error?.status);
  return status >= 400 && status in STATUS_CODES ? status : 500;
}
