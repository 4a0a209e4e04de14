import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { guardConnections } from "../overload/index.ts";
import { describeCache, type OpsCache, purgeCache } from "./ops-cache.ts";

/** A connection may be inactive for this long. */
const TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 64;
/** Requests for metrics within this time share one result. */
const METRICS_INTERVAL_MS = 1000;
/**
 * Names without a dot, or below the top-level domains that are reserved for own networks (RFC 6762 §3, ICANN's
 * .internal).
 */
const NOT_PUBLIC = /^[^.]+$|\.(local|internal)$/i;

type Options = {
  registry: Registry;
  /** Whether `/readyz` returns 200, and why not, or which services fail. */
  readReadiness: () => { isReady: boolean; reason: string | undefined };
  cache: OpsCache;
  /** The host name that the port listens on. */
  host: string | undefined;
  log: Logger;
};

/** The operators' server, on a port of its own: probes, metrics and the cache. It responds until the process ends. */
export function createOpsServer({ registry, readReadiness, cache, host, log }: Options) {
  let metrics: Promise<string> | undefined;
  const renderMetrics = () => {
    if (!metrics) {
      metrics = registry.metrics();
      setTimeout(() => {
        metrics = undefined;
      }, METRICS_INTERVAL_MS).unref();
    }
    return metrics;
  };
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const [path, query] = (req.url ?? "").split(/\?(.*)/s, 2);
    const isForbidden =
      (path === "/metrics" && !isOwnHost(req, host)) || (path?.startsWith("/cache") && !isFromOperator(req, host));
    if (isForbidden) return send(res, 403, "forbidden\n");
    switch (path) {
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
          return send(res, 200, await renderMetrics(), registry.contentType);
        } catch (err) {
          log.error({ err }, "metrics failed");
          return send(res, 500, "metrics failed\n");
        }
      case "/cache":
        return sendAnswer(res, describeCache(cache, new URLSearchParams(query)));
      case "/cache/invalidate":
        if (req.method !== "POST") return send(res, 405, "method not allowed\n", undefined, { Allow: "POST" });
        return sendAnswer(res, await purgeCache(cache, new URLSearchParams(query)));
      default:
        return send(res, 404, "not found\n");
    }
  };
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }).setTimeout(TIMEOUT_MS);
  const limits = { maxConnections: MAX_CONNECTIONS, clientTimeoutMs: 0, headers: {}, onDrop() {} };
  guardConnections(server, limits).handleRequests(handle);
  return server;
}

/**
 * Whether a request may read or change the cache. A page of another site could send one from an operator's browser, or
 * its host name could resolve to this address (DNS rebinding). So the host must be an address, localhost or OPS_HOST.
 */
function isFromOperator(req: IncomingMessage, host: string | undefined) {
  const name = hostNameOf(req);
  const site = req.headers["sec-fetch-site"] ?? "none";
  const isKnownHost = isIP(name) > 0 || name === "localhost" || name === host;
  return isKnownHost && req.headers.origin === undefined && ["none", "same-origin"].includes(site);
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

/** Sends a text, or a value as JSON. */
function sendAnswer(res: ServerResponse, [status, answer]: readonly [number, string | object]) {
  if (typeof answer === "string") send(res, status, `${answer}\n`);
  else send(res, status, `${JSON.stringify(answer, null, 2)}\n`, "application/json");
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8", added = {}) {
  if (res.headersSent) return; // At MAX_CONNECTIONS, the client has got a 503.
  const headers = { ...added, "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  res.writeHead(status, headers).end(body);
}
