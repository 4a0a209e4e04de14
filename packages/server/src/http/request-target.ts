import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";

/** The most header lines of a request; more get 431. Browsers send up to 25, and proxies add a few. */
export const MAX_HEADER_LINES = 100;
/** RFC 9112 §3.2 and RFC 3986 §3.2.2: `uri-host [ ":" port ]`, where all of it may be empty. */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(\d*))?$/i;
const MAX_PORT = 65_535;

/** Whether a server may accept the value of a Host header (RFC 9112 §3.2). */
export function isHost(value: string) {
  const parts = HOST.exec(value);
  if (!parts) return false;
  const [, ipv6, port = 0] = parts;
  return (ipv6 === undefined || isIPv6(ipv6)) && Number(port) <= MAX_PORT;
}

/** Whether a proxy may see a different end of the body (request smuggling, RFC 9112 §6.1). */
export function hasAmbiguousFraming({ headers, httpVersion }: Pick<IncomingMessage, "headers" | "httpVersion">) {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && (httpVersion === "1.0" || coding.toLowerCase() !== "chunked");
}

/** Whether a request has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">) {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The length of the request target, and of the header names and values. */
export function headLength({ url = "", rawHeaders }: Pick<IncomingMessage, "url" | "rawHeaders">) {
  return rawHeaders.reduce((sum, { length }) => sum + length, url.length);
}

/** Whether a request target is in origin form (RFC 9112 §3.2.1), perhaps with malformed percent-encoding. */
export function isOriginForm(target: string) {
  return target.startsWith("/") && !target.includes("#");
}

export type RequestTarget = {
  path: string;
  decodedPath: string;
  query: string;
  /** Whether the client has sent another spelling of the path. */
  isRespelled: boolean;
};

/** The characters that need no percent-encoding: with it, a path is the same (RFC 3986 §2.3 and §6.2.2.2). */
const UNRESERVED = /%(2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/**
 * Parses a request target in origin form or absolute form (RFC 9112 §3.2): its path, its query and the decoded path.
 * Returns undefined for other forms, and if it has a fragment. Dot segments stay. Decodes what needs no encoding, so that
 * Express's routers match a path as the site's routes and files do: a password in front of /private protects
 * /%70rivate. In the decoded path, an encoded slash stays, since it separates no segments. If the percent-encoding is
 * malformed, replaces each "%" by "%25". Decoding then returns the text that was sent, which the browser's router uses,
 * too.
 */
export function parseRequestTarget(target: string): RequestTarget | undefined {
  const origin = target.startsWith("/") ? target : /^https?:\/\/[^/?#]+(.*)$/is.exec(target)?.[1];
  if (origin === undefined || origin.includes("#")) return undefined;
  const queryStart = origin.indexOf("?");
  const sent = (queryStart === -1 ? origin : origin.slice(0, queryStart)) || "/";
  const query = queryStart === -1 ? "" : origin.slice(queryStart).replace(/^\?$/, "");
  if (!sent.includes("%")) return { path: sent, decodedPath: sent, query, isRespelled: false };
  try {
    const path = sent.replace(UNRESERVED, decodeURIComponent);
    const decodedPath = decodeURIComponent(path.replace(/%2f/gi, "%252F"));
    return { path, decodedPath, query, isRespelled: path !== sent };
  } catch {
    return { path: sent.replaceAll("%", "%25"), decodedPath: sent, query, isRespelled: true };
  }
}

type Message = Pick<IncomingMessage, "url" | "headers" | "httpVersion">;

/** The target and host of a request. Returns undefined for requests that RFC 9112 forbids but Node's parser accepts. */
export function parseRequest({ url = "", headers, httpVersion }: Message) {
  const target = parseRequestTarget(url);
  // In absolute form, the target's host replaces the Host header (RFC 9112 §3.2.2).
  const authority = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  const isHostValid = headers.host === undefined ? httpVersion === "1.0" : isHost(headers.host);
  if (!target || !isHostValid || (authority !== undefined && !isHost(authority))) return undefined;
  return hasAmbiguousFraming({ headers, httpVersion }) ? undefined : { target, host: authority ?? headers.host };
}

/** Backslashes and dot segments, which the URL parser changes. In a data request, `.data` follows the dot segment. */
const CHANGED_BY_URL = /\\|\/(?:\.|%2e){1,2}(?:\/|\.data$|$)/i;

/** Whether the URL parser keeps the segments of a path (WHATWG URL §4.4). It may encode characters. */
export function keepsSegments(path: string) {
  return !CHANGED_BY_URL.test(path);
}
