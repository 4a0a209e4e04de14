import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { negotiateContentCoding } from "../http/content-coding.ts";
import { isSameOrigin } from "../http/same-origin.ts";
import { guardConnections } from "../overload/index.ts";
import { describeCache, describePurge, type OpsCache, purgeCache } from "./ops-cache.ts";
import { PAGE_HEADERS, type Page, renderHtml, renderText } from "./ops-page.ts";

/** A connection may be inactive for this long. */
const TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 64;
/** The most characters of the form that purges the cache. */
const MAX_FORM_LENGTH = 8192;
/** Requests for metrics within this time share one result. */
const METRICS_INTERVAL_MS = 1000;
/**
 * Names without a dot, or below the top-level domains that are reserved for own networks (RFC 6762 §3, ICANN's
 * .internal).
 */
const NOT_PUBLIC = /^[^.]+$|\.(local|internal)$/i;
const TEXT = "text/plain; charset=utf-8";
const FORBIDDEN = "forbidden: type the URL yourself, with an IP address, localhost or OPS_HOST as its host\n";

type Options = {
  registry: Registry;
  /** Whether `/readyz` returns 200, and why not, or which services fail. */
  readReadiness: () => { isReady: boolean; reason: string | undefined };
  /** Describes the process, for `/`. */
  readStatus: () => Promise<Page>;
  cache: OpsCache;
  /** The host name that the port listens on. */
  host: string | undefined;
  log: Logger;
};

/**
 * The operators' server, on a port of its own: a page, probes, metrics and the cache. It responds until the process
 * ends.
 */
export function createOpsServer({ registry, readReadiness, readStatus, cache, host, log }: Options) {
  let metrics: { identity: Promise<string>; gzip?: Promise<Buffer> } | undefined;
  const renderMetrics = (coding: "gzip" | "identity") => {
    if (!metrics) {
      metrics = { identity: registry.metrics() };
      setTimeout(() => {
        metrics = undefined;
      }, METRICS_INTERVAL_MS).unref();
    }
    if (coding === "identity") return metrics.identity;
    metrics.gzip ??= metrics.identity.then((text) => promisify(gzip)(text));
    return metrics.gzip;
  };
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const [path, query] = (req.url ?? "").split(/\?(.*)/s, 2);
    const isForOperators = path === "/" || path?.startsWith("/cache");
    const isForbidden =
      (path === "/metrics" && !isOwnHost(req, host)) || (isForOperators && !isFromOperator(req, host));
    if (isForbidden) return send(res, 403, FORBIDDEN);
    switch (path) {
      case "/":
        if (!["GET", "HEAD"].includes(req.method ?? "")) return sendNotAllowed(res, "GET, HEAD");
        try {
          return sendPage(req, res, 200, await readStatus());
        } catch (err) {
          log.error({ err }, "status page failed");
          return send(res, 500, "status page failed\n");
        }
      case "/livez":
        return send(res, 200, "ok\n");
      case "/readyz": {
        const { isReady, reason } = readReadiness();
        // Only operators read the reason: an error may name an address.
        const added = reason !== undefined && isOwnHost(req, host) ? ` (${reason})` : "";
        return isReady ? send(res, 200, `ready${added}\n`) : send(res, 503, `not ready${added}\n`);
      }
      case "/metrics":
        try {
          // A twentieth of the bytes. Prometheus accepts gzip.
          const coding = negotiateContentCoding(req.headers, ["gzip", "identity"]);
          const added = { Vary: "Accept-Encoding", ...(coding === "gzip" && { "Content-Encoding": coding }) };
          return send(res, 200, await renderMetrics(coding), registry.contentType, added);
        } catch (err) {
          log.error({ err }, "metrics failed");
          return send(res, 500, "metrics failed\n");
        }
      case "/cache":
        return sendAnswer(res, describeCache(cache, new URLSearchParams(query)));
      case "/cache/invalidate": {
        if (req.method !== "POST") return sendNotAllowed(res, "POST");
        // If the client leaves before its end, the response isn't sent either.
        const form = await readForm(req).catch(() => undefined);
        if (!form) return send(res, 413, "the form is too large\n");
        const answer = await purgeCache(cache, new URLSearchParams([...new URLSearchParams(query), ...form]));
        return acceptsHtml(req) ? sendPage(req, res, answer[0], describePurge(answer)) : sendAnswer(res, answer);
      }
      default:
        return send(res, 404, "not found: / describes this process\n");
    }
  };
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }).setTimeout(TIMEOUT_MS);
  const limits = { maxConnections: MAX_CONNECTIONS, clientTimeoutMs: 0, headers: {}, onDrop() {} };
  guardConnections(server, limits).handleRequests(handle);
  return server;
}

/**
 * Whether a request may read the page, or read or change the cache. A page of another site could send one from an operator's browser, or
 * its host name could resolve to this address (DNS rebinding). So the host must be an address, localhost or OPS_HOST.
 */
function isFromOperator(req: IncomingMessage, host: string | undefined) {
  const name = hostNameOf(req);
  const isKnownHost = isIP(name) > 0 || name === "localhost" || name === host;
  return isKnownHost && isSameOrigin(req.headers, { TRUSTED_ORIGINS: new Set() });
}

/**
 * Whether a request may read the metrics: its host may also be a name that isn't public, such as a Kubernetes
 * service's.
 */
function isOwnHost(req: IncomingMessage, host: string | undefined) {
  const name = hostNameOf(req);
  return isIP(name) > 0 || name === host || NOT_PUBLIC.test(name);
}

function hostNameOf({ headers }: IncomingMessage) {
  return headers.host?.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1") ?? "";
}

/** The fields of a form. Undefined if it is too large. */
async function readForm(req: IncomingMessage) {
  let text = "";
  if (req.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) {
    for await (const chunk of req.setEncoding("utf8")) {
      text += chunk;
      if (text.length > MAX_FORM_LENGTH) return undefined;
    }
  }
  return new URLSearchParams(text);
}

const acceptsHtml = ({ headers }: IncomingMessage) => headers.accept?.includes("text/html") ?? false;

/** Sends HTML to browsers, and text to others, such as curl. */
function sendPage(req: IncomingMessage, res: ServerResponse, status: number, page: Page) {
  if (!acceptsHtml(req)) return send(res, status, renderText(page, String(req.headers.host)));
  send(res, status, renderHtml(page), "text/html; charset=utf-8", PAGE_HEADERS);
}

const sendNotAllowed = (res: ServerResponse, allow: string) =>
  send(res, 405, "method not allowed\n", TEXT, { Allow: allow });

/** Sends a text, or a value as JSON. */
function sendAnswer(res: ServerResponse, [status, answer]: readonly [number, string | object]) {
  if (typeof answer === "string") send(res, status, `${answer}\n`);
  else send(res, status, `${JSON.stringify(answer, null, 2)}\n`, "application/json");
}

function send(res: ServerResponse, status: number, body: string | Buffer, type = TEXT, added = {}) {
  if (res.headersSent) return; // At MAX_CONNECTIONS, the client has got a 503.
  const headers = { ...added, "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  res.writeHead(status, headers).end(body);
}
