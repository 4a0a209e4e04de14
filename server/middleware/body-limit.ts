import type { RequestHandler } from "express";
import createHttpError from "http-errors";

/** Forms without files. Node's parser takes quadratic time for names without "=": 1 MB blocks the process for seconds. */
const MAX_URLENCODED_BYTES = 100 * 1024;

/** Rejects a request whose body is larger than its route allows, by Content-Length or by what arrives. */
export function bodyLimit(maxBytes: number): RequestHandler {
  return (req, res, next) => {
    const routeMaxBytes = res.locals.route?.maxBodyBytes ?? maxBytes;
    const max = req.is("urlencoded") ? Math.min(routeMaxBytes, MAX_URLENCODED_BYTES) : routeMaxBytes;
    const tooLarge = () => next(createHttpError(413, { headers: { Connection: "close" } }));
    if (Number(req.headers["content-length"] ?? 0) > max) return tooLarge();
    if (req.headers["transfer-encoding"] !== undefined) {
      let received = 0;
      // React Router's adapter starts reading in this very tick, and so misses nothing: what comes after this is synchronous.
      req.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received <= max) return;
        // Whoever reads the body gets no more of it, and the rest is discarded.
        for (const event of ["data", "end"]) req.removeAllListeners(event);
        tooLarge();
      });
    }
    next();
  };
}
