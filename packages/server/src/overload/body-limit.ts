import type { IncomingMessage } from "node:http";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import createHttpError from "http-errors";
import { filterBody } from "../node-internals.ts";

/**
 * The limit of URL-encoded forms. Also of other bodies, except multipart forms, if nothing else is set. Node 24
 * and 26 parse URL-encoded forms in quadratic time if their names have no "=": 1 MB blocks the process for seconds. On
 * every version, decoding "+" takes 40 times its bytes for a moment. Parsed JSON takes up to 32 times its bytes.
 */
const MAX_PARSED_BYTES = 100 * 1024;
/** Of one type alone: Content-Type may have several, and Fetch reads the last one. */
const MULTIPART = /^multipart\/form-data\s*(;[^,]*)?$/i;
const URLENCODED = /^application\/x-www-form-urlencoded\s*(;[^,]*)?$/i;
/** The rest of a rejected body is read for this time and this many bytes. */
const LINGER_TIMEOUT_MS = 5000;
const LINGER_BYTES = 16 * 1024 * 1024;

const tooLarge = () => createHttpError(413, { headers: { Connection: "close" } });

/** The handlers made here, for the check of the order in `createApp`. */
const bodyLimits = new WeakSet<object>();

export const isBodyLimit = (handler: unknown) => bodyLimits.has(handler as object);

/**
 * Sets the largest body of requests, in bytes. It must run before `receive`, for the path of a router or a handler:
 * `app.use("/webhooks", maxBodyBytes(1_000_000))`. A page sets `handle.maxBodyBytes` instead.
 */
export function maxBodyBytes(bytes: number): RequestHandler {
  const setMaxBytes: RequestHandler = (_req, res, next) => {
    res.locals.maxBodyBytes = bytes;
    next();
  };
  bodyLimits.add(setMaxBytes);
  return setMaxBytes;
}

/** The largest body that `maxBodyBytes` or the route sets. */
export function findSetMaxBytes({ maxBodyBytes, route }: Express.Locals) {
  return maxBodyBytes ?? route?.maxBodyBytes;
}

/** The most bytes that a body may have: by its route or `maxBodyBytes`, or else `defaultBytes` or MAX_PARSED_BYTES. */
export function findMaxBodyBytes({ headers }: IncomingMessage, { locals }: Response, defaultBytes: number) {
  const set = findSetMaxBytes(locals);
  const max = set ?? defaultBytes;
  const type = headers["content-type"] ?? "";
  const mayBeUrlencoded = /x-www-form-urlencoded/i.test(type);
  if (!mayBeUrlencoded && (MULTIPART.test(type) || set !== undefined)) return max;
  return Math.min(max, MAX_PARSED_BYTES);
}

/** A body takes this many times its length in memory: chunks, their concatenation, parsed values. */
export function countCopies({ headers }: IncomingMessage) {
  const type = headers["content-type"] ?? "";
  return MULTIPART.test(type) || URLENCODED.test(type) ? 4 : 32;
}

/** Rejects a body that is too large, by Content-Length or by the bytes that arrive. */
export function bodyLimit(defaultBytes: number, handleErrors: ErrorRequestHandler): RequestHandler {
  return (req, res, next) => {
    const max = findMaxBodyBytes(req, res, defaultBytes);
    if (Number(req.headers["content-length"] ?? 0) > max) return next(tooLarge());
    if (req.headers["transfer-encoding"] !== undefined) {
      let received = req.readableLength;
      if (received > max) return reject(req, res, handleErrors);
      filterBody(req, (chunk) => {
        const before = received;
        received += chunk?.length ?? 0;
        if (before <= max && received > max) reject(req, res, handleErrors);
        return received <= max;
      });
    }
    next();
  };
}

/**
 * Discards the rest of a body, and calls back when it has ended or goes on for too long. Closing while the client is
 * sending would reset the connection before it reads the response (RFC 9112 §9.6).
 */
export function linger(req: IncomingMessage, close: () => void) {
  const lingering = setTimeout(close, LINGER_TIMEOUT_MS);
  req.socket.once("close", () => clearTimeout(lingering));
  let bytes = 0;
  filterBody(req, (chunk) => {
    bytes += chunk?.length ?? 0;
    if (chunk === null || bytes > LINGER_BYTES) close();
    return true;
  });
  req.resume();
}

/**
 * Sends 413. The filter discards the body's end, so its reader gets none. Once the connection has closed, the reader
 * gets an error.
 */
function reject(req: Request, res: Response, handleErrors: ErrorRequestHandler) {
  const error = tooLarge();
  req.socket.once("close", () => req.destroy(error));
  if (res.writableEnded) return linger(req, () => req.socket.destroy()); // The response didn't need the body.
  // Not by `next`, which may have been called already: Express would then handle a later error of the route itself.
  handleErrors(error, req, res, () => {});
}
