import type { IncomingMessage } from "node:http";
import type { Request, RequestHandler } from "express";
import createHttpError from "http-errors";
import type { ErrorMiddleware, Response } from "../chain.ts";
import type { RouteEntry } from "../pages/route-entry.ts";

/**
 * The limit of URL-encoded forms. Also of other bodies, except multipart forms, if the route sets none. Node parses
 * URL-encoded forms in quadratic time if their names have no "=": 1 MB blocks the process for seconds. Parsed JSON
 * takes up to 32 times its bytes.
 */
const MAX_PARSED_BYTES = 100 * 1024;

const tooLarge = () => createHttpError(413, { headers: { Connection: "close" } });

/** The most bytes that the body of a request may have. */
export function findMaxBodyBytes({ headers }: IncomingMessage, route: RouteEntry | undefined, maxBytes: number) {
  const routeMaxBytes = route?.maxBodyBytes ?? maxBytes;
  // Content-Type may have several types, and Fetch reads the last one.
  const type = headers["content-type"] ?? "";
  const isUrlencoded = /x-www-form-urlencoded/i.test(type);
  const isMultipart = /multipart\/form-data/i.test(type);
  if (!isUrlencoded && (isMultipart || route?.maxBodyBytes !== undefined)) return routeMaxBytes;
  return Math.min(routeMaxBytes, MAX_PARSED_BYTES);
}

/** A body takes this many times its length in memory: chunks, their concatenation, parsed values. */
export function countCopies({ headers }: IncomingMessage) {
  return /form/i.test(headers["content-type"] ?? "") ? 4 : 32;
}

/** Rejects a body that is larger than its route allows, by Content-Length or by the bytes that arrive. */
export function bodyLimit(maxBytes: number, onError: ErrorMiddleware): RequestHandler {
  return (req, res, next) => {
    // While the services' middleware was waiting, the client has left, or has got a 503.
    if (res.closed || res.headersSent) return;
    const max = findMaxBodyBytes(req, res.locals.route, maxBytes);
    if (Number(req.headers["content-length"] ?? 0) > max) return next(tooLarge());
    if (req.headers["transfer-encoding"] !== undefined) {
      // Counts the bytes in `push`: a listener for "data" would start the stream before the route reads it.
      let received = req.readableLength;
      if (received > max) return reject(req, res, onError);
      const push = req.push.bind(req);
      req.push = (chunk: Buffer | null) => {
        received += chunk?.length ?? 0;
        if (received > max) {
          req.push = push;
          reject(req, res, onError);
        }
        return push(chunk);
      };
    }
    next();
  };
}

/** Sends 413. Once the response has closed, the reader of the body gets an error. The rest of the body is discarded. */
function reject(req: Request, res: Response, onError: ErrorMiddleware) {
  for (const event of ["data", "end", "close"]) req.removeAllListeners(event);
  const error = tooLarge();
  const fail = () => req.listenerCount("error") > 0 && req.emit("error", error);
  if (res.closed) fail();
  else res.once("close", fail);
  // Not by `next`, which has been called already: Express would then handle a later error of the route itself.
  onError(error, req, res);
}
