import { isUtf8 } from "node:buffer";
import type { Request, Response } from "express";
import onHeaders from "on-headers";
import type { Logger } from "pino";
import { isForSharedCaches } from "../../http/cache-control.ts";
import { encodeLocation } from "../../http/encode-location.ts";
import { removeSharedLifetimes } from "../../http/page-headers.ts";
import { ACTION_METHODS, READ_METHODS } from "../../site/route-entry.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";

/** A response may have per-user data. A route's `headers` may set another value. */
const DEFAULT_CACHE_CONTROL = "private, no-cache";
/**
 * With a cookie in the request or the response. After the sign-out, Back could show a page from the browser's cache.
 */
const CACHE_CONTROL_WITH_COOKIE = "private, no-store";

/**
 * Completes the headers of a response as they are written: React Router's adapter would append to earlier ones. Headers
 * that a handler has set stay, except a Cache-Control for shared caches if the response `isPrivate` or sets a cookie.
 * Runs after the listeners that middleware has added by `on-headers`, since `receive` is in front: express-session and
 * cookie-session set their cookie there. A response from memory has all of its headers, and doesn't use `on-headers`,
 * which takes more CPU time than all other middleware of a cached page.
 */
export function defaultHeaders(securityHeaders: SecurityHeaders, log: Logger) {
  const warned = new Set<string>();
  return (req: Request, res: Response) => {
    const { writeHead } = res;
    res.writeHead = (...args: unknown[]) => {
      res.writeHead = writeHead;
      const isComplete = res.locals.isStored && !res.hasHeader("Set-Cookie");
      if (!isComplete && !res.headersSent) {
        // It first sets the headers that are among the arguments.
        onHeaders(res, () => {
          makePrivateForUser(req, res);
          if (!res.locals.isStored) addHeaders(req, res, securityHeaders);
        });
      }
      if (res.locals.replacedHeaders) warnOfReplaced(res, res.locals.replacedHeaders, warned, log);
      return Reflect.apply(res.writeHead, res, args);
    };
  };
}

/**
 * A shared cache could send the cookie of one client to all (RFC 9111 §7.3), or what is for one who has signed in by
 * `Authorization` (RFC 9111 §3.5).
 */
function makePrivateForUser({ headers }: Request, res: Response) {
  const hasCookie = res.hasHeader("Set-Cookie");
  if (!hasCookie && headers.authorization === undefined) return;
  removeSharedLifetimes(res);
  const cacheControl = res.getHeader("Cache-Control");
  if (cacheControl === undefined) return;
  if (!isForSharedCaches(String(cacheControl))) return;
  const isRendered = res.locals.nonce !== undefined;
  res.setHeader("Cache-Control", hasCookie && isRendered ? CACHE_CONTROL_WITH_COOKIE : DEFAULT_CACHE_CONTROL);
}

/** Logs each header once. */
function warnOfReplaced(res: Response, names: string[], warned: Set<string>, log: Logger) {
  for (const name of names.filter((name) => !warned.has(name))) {
    warned.add(name);
    log.warn(
      { header: name, ...toLogFields(res) },
      "header of middleware replaced: the page would not work with it. Turn it off there (contentSecurityPolicy: false in helmet), and set handle.securityHeaders",
    );
  }
}

function addHeaders({ method, headers: { cookie } }: Request, res: Response, securityHeaders: SecurityHeaders) {
  const { route, nonce, ended, errorStatus, requestId } = res.locals;
  // React Router has rendered a page that a shared cache may keep, with the headers of this client.
  const isPrivate = route?.cacheRule !== undefined && ended !== undefined && errorStatus === undefined;
  if (isPrivate) {
    removeSharedLifetimes(res);
    if (isForSharedCaches(String(res.getHeader("Cache-Control")))) res.removeHeader("Cache-Control");
  }
  const sources = [`'nonce-${nonce}'`];
  // Only a page has a nonce, and a policy.
  const headers =
    nonce === undefined
      ? securityHeaders.defaults
      : securityHeaders.ofPage(route?.addedHeaders ?? {}, { scripts: sources, styles: sources });
  for (const [name, value] of Object.entries(headers)) if (!res.hasHeader(name)) res.setHeader(name, value);
  const hasCookie = cookie !== undefined || res.hasHeader("Set-Cookie");
  const cacheControl = hasCookie ? CACHE_CONTROL_WITH_COOKIE : DEFAULT_CACHE_CONTROL;
  if (!res.hasHeader("Cache-Control")) {
    // React Router has rendered it with the headers of this client.
    if (ended !== undefined) removeSharedLifetimes(res);
    res.setHeader("Cache-Control", cacheControl);
  }
  const location = res.getHeader("Location");
  if (location !== undefined) res.setHeader("Location", encodeLocation(decodeLatin1(String(location))));
  // RFC 9110 §15.5.6. React Router sends no Allow.
  const allowed = ACTION_METHODS.includes(method) ? READ_METHODS : (route?.methods ?? READ_METHODS);
  if (res.statusCode === 405 && nonce !== undefined && !res.hasHeader("Allow"))
    res.setHeader("Allow", allowed.join(", "));
  // A response that shared caches store has no request id.
  if (!isForSharedCaches(String(res.getHeader("Cache-Control")))) res.setHeader("X-Request-Id", requestId);
}

/** The server behind a proxy may send UTF-8, which Node reads as Latin-1. */
function decodeLatin1(value: string) {
  const bytes = Buffer.from(value, "latin1");
  return bytes.toString("latin1") === value && isUtf8(bytes) ? bytes.toString() : value;
}
