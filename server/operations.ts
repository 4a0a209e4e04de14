import { createServer, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";

/** The operators' own server, on a port that visitors don't reach: probes and metrics. */
export function createOperationsServer(registry: Registry, isReady: () => boolean) {
  return createServer(async (req, res) => {
    switch (req.url) {
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
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8") {
  res.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
}
