import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type CacheControls, isFromOperator, purge } from "./cache.ts";

/** A client must send its request, and read the response, within this time. */
const TIMEOUT_MS = 5000;
/** Requests for metrics within this time share one result. */
const METRICS_INTERVAL_MS = 1000;

/** The operators' server, on a port of its own. */
export function createOpsServer() {
  return createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }).setTimeout(TIMEOUT_MS);
}

type Options = {
  registry: Registry;
  isReady: () => Promise<boolean>;
  cache: CacheControls;
  /** The host name that the port listens on. */
  host: string | undefined;
  log: Logger;
};

/** Probes, metrics and the cache. It responds until the process ends. */
export function handleOps({ registry, isReady, cache, host, log }: Options): RequestListener {
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
  return async (req, res) => {
    const [path, query] = (req.url ?? "").split(/\?(.*)/s, 2);
    switch (path) {
      case "/livez":
        return send(res, 200, "ok\n");
      case "/readyz":
        return (await isReady()) ? send(res, 200, "ready\n") : send(res, 503, "not ready\n");
      case "/metrics":
        try {
          return send(res, 200, await renderMetrics(), registry.contentType);
        } catch (err) {
          log.error({ err }, "metrics failed");
          return send(res, 500, "metrics failed\n");
        }
      case "/cache":
        if (!isFromOperator(req, host)) return send(res, 403, "forbidden\n");
        return send(res, 200, `${JSON.stringify(cache.entries.describe(), null, 2)}\n`, "application/json");
      case "/cache/invalidate": {
        if (!isFromOperator(req, host)) return send(res, 403, "forbidden\n");
        if (req.method !== "POST") return send(res, 405, "method not allowed\n", undefined, { Allow: "POST" });
        const removed = await purge(cache, new URLSearchParams(query));
        if (removed === undefined) return send(res, 400, "?group=NAME or ?path=PATH is missing\n");
        return send(res, 200, `${removed} cache entries invalidated in this process\n`);
      }
      default:
        return send(res, 404, "not found\n");
    }
  };
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8", added = {}) {
  const headers = { ...added, "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  res.writeHead(status, headers).end(body);
}
