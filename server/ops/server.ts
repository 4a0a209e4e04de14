import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** For a client to send its request, and to go on reading the response. */
const TIMEOUT_MS = 5000;
/** Rendered metrics are shared by whoever requests them within this time. */
const METRICS_INTERVAL_MS = 1000;

/** The operators' own server, on a port that visitors don't reach. */
export function createOpsServer() {
  return createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }).setTimeout(TIMEOUT_MS);
}

/** Probes and metrics. It looks at nothing but the path, and responds until the process ends. */
export function handleOps(registry: Registry, isReady: () => Promise<boolean>, log: Logger): RequestListener {
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
    switch (req.url?.replace(/\?.*/s, "")) {
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
      default:
        return send(res, 404, "not found\n");
    }
  };
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8") {
  const headers = { "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  res.writeHead(status, headers).end(body);
}
