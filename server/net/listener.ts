import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Above the 60 s for which load balancers keep idle connections, so that theirs is the first to close. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** How often requests that are over their timeout are looked for. */
const CHECK_INTERVAL_MS = 2000;

/** The server for clients, not listening yet. */
export function createPublicServer() {
  const server = createServer({
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A second Host header then makes the value invalid, instead of being dropped.
    joinDuplicateHeaders: true,
  });
  // No header is dropped either: Node's parser limits their bytes (16 KB).
  server.maxHeadersCount = 0;
  return server;
}

/** Resolves with the port; rejects when the address can't be listened on. */
export async function listen(server: Server, port: number, host: string | undefined) {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
