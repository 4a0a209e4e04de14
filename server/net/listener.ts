import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const HEADERS_TIMEOUT_MS = 10_000;
/** How often requests that are over their timeout are looked for. */
const CHECK_INTERVAL_MS = 2000;
/** An idle connection takes 9 to 13 KB; they may take a quarter of what the process may have. */
const CONNECTION_BYTES = 16 * 1024;
const CONNECTIONS_SHARE = 0.25;

type Options = { keepAliveTimeoutMs?: number; maxConnections?: number | undefined };

/** The server for clients, not listening yet. */
export function createPublicServer({ keepAliveTimeoutMs, maxConnections = defaultMaxConnections() }: Options = {}) {
  const server: Server = createServer({
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0, // A large upload may take its time as long as it progresses (stalled-clients.ts).
    keepAliveTimeout: keepAliveTimeoutMs,
    // A second Host header then makes the value invalid, instead of being dropped.
    joinDuplicateHeaders: true,
    // The application rejects a missing one, and logs it.
    requireHostHeader: false,
    // Whatever else a client would switch to, such as HTTP/2, its request is an ordinary one (before Node 22.21, only
    // while no service listens for upgrades).
    shouldUpgradeCallback: ({ headers }) =>
      headers.upgrade?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0,
  });
  // No header is dropped either: Node's parser limits their bytes (16 KB).
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  return server;
}

/** No limit where the process has no limit of memory (a container's, as a rule). */
function defaultMaxConnections() {
  const memory = process.constrainedMemory() ?? 0;
  const isLimited = memory > 0 && memory < 2 ** 48;
  return isLimited ? Math.floor((memory * CONNECTIONS_SHARE) / CONNECTION_BYTES) : Number.POSITIVE_INFINITY;
}

/** Resolves with the port; rejects when the address can't be listened on. */
export async function listen(server: Server, port: number, host: string | undefined) {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
