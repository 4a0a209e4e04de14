import { STATUS_CODES } from "node:http";
import type { HttpError } from "http-errors";
import type { Logger } from "pino";
import type { ErrorMiddleware } from "../chain.ts";
import { hasBody } from "../http/request-target.ts";
import { limitRate } from "../limit-rate.ts";
import { toLogFields } from "../log-fields.ts";

/** The headers of the failed response's content, and its cookies, are removed. Others, such as a rate limit's, stay. */
const CONTENT_HEADERS = /^(accept-ranges|age|content-.*|etag|last-modified|set-cookie)$/;
/** The connection of a rejected body stays open this long, so that the client can read the response. */
const LINGER_TIMEOUT_MS = 5000;

/** Lines per second. */
const MAX_ERRORS_LOGGED = 10;

/** Sends the errors of middleware as plain text, and logs those that aren't the client's fault. */
export function errorHandler(log: Logger, securityHeaders: Record<string, string>): ErrorMiddleware {
  const logError = limitRate(MAX_ERRORS_LOGGED, (fields: object) => log.error(fields, "request failed"));
  return (error: HttpError, req, res) => {
    // The client has left or has its response. After a 413 the route may still be running, and fail to respond.
    if (error === req.socket.errored || res.closed || res.writableEnded || res.locals.errorStatus !== undefined) return;
    // React Router's adapter throws ERR_INVALID_URL if it can't make a URL of host and target.
    const status = error.code === "ERR_INVALID_URL" ? 400 : (error.status ?? 500);
    if (status >= 500 && !error.expose) logError({ err: error, ...toLogFields(res.locals) });
    if (res.headersSent) return res.destroy();
    res.locals.errorStatus = status;
    res.locals.isPrivate = false; // Otherwise `responseHeaders` would remove the error's Cache-Control.
    const body = `${STATUS_CODES[status]}\n`;
    const type = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": Buffer.byteLength(body) };
    for (const name of res.getHeaderNames()) if (CONTENT_HEADERS.test(name)) res.removeHeader(name);
    res.writeHead(status, {
      ...securityHeaders,
      ...error.headers,
      ...type,
      "Cache-Control": "no-store",
      "X-Request-Id": res.locals.requestId,
    });
    const isClosing = !res.shouldKeepAlive || error.headers?.Connection === "close";
    if (req.complete || !hasBody(req) || !isClosing) return res.end(req.method === "HEAD" ? undefined : body);
    // Closing while the client is sending would reset the connection before it reads the response (RFC 9112 §9.6).
    res.write(body);
    const lingering = setTimeout(() => res.end(), LINGER_TIMEOUT_MS);
    res.once("close", () => clearTimeout(lingering));
    req.resume().once("end", () => res.end());
  };
}
