import { createServer, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";

/** For a client to send its request, and to go on reading the response. */
const TIMEOUT_MS = 5000;

/**
 * The operators' own server, on a port that visitors don't reach: probes and metrics. It looks at
 * nothing but the path, and responds until the process ends.
 */
export function createOpsServer(registry: Registry, isReady: () => boolean) {
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }, async (req, res) => {
    switch (req.url?.replace(/\?.*/s, "")) {
      case "/livez":
        return send(res, 200, "ok\n");
      case "/readyz":
        return isReady() ? send(res, 200, "ready\n") : send(res, 503, "not ready\n");
      case "/metrics":
        return send(res, 200, await registry.metrics(), registry.contentType);
      default:
        return send(res, 404, "not found\n");
    }
  });
  return server.setTimeout(TIMEOUT_MS);
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8") {
  res.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
}
