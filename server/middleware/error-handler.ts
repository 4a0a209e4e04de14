import type { ErrorRequestHandler } from "express";
import type { Logger } from "pino";

/** Ends a request that failed: 500 for a bug, which is logged, and 400 for what the client sent. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    // The connection failed: nobody is left to respond to, and the access log says so.
    if (error === req.socket.errored) return;
    // The address is no URL (the adapter makes one of it), or a library rejects the request.
    const status = error.code === "ERR_INVALID_URL" ? 400 : (error.status ?? 500);
    if (status >= 500) log.error({ err: error, requestId: res.locals.requestId }, "request failed");
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
