import { once } from "node:events";
import { createServer, type Server, type ServerOptions } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { MAX_HEADER_LINES } from "../http/request-target.ts";

const HEADERS_TIMEOUT_MS = 10_000;
/** The connections that the kernel keeps until they are accepted. With more, clients wait a second to try again. */
const BACKLOG = 4096;
/** Node looks for requests that have timed out this often. */
const CHECK_INTERVAL_MS = 2000;

/** The server for clients, not listening yet. It doesn't pass requests on (connections.ts). */
export function createPublicServer(
  options: Pick<ServerOptions, "keepAliveTimeout" | "IncomingMessage" | "ServerResponse"> = {},
) {
  const server: Server = createServer({
    ...options,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0, // A large upload may take any time at the minimum data rate (connections.ts).
    // A second Host header then makes the value invalid, instead of being dropped.
    joinDuplicateHeaders: true,
    // The application rejects and logs a request without Host.
    requireHostHeader: false,
    // The services get upgrades to WebSocket. Any other upgrade is handled as an ordinary request. Supported since Node
    // 22.21: in older versions, services that handle upgrades get all of them.
    shouldUpgradeCallback: ({ headers }) =>
      headers.upgrade?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0,
  });
  // One more than the limit, so that the application can reject the request. Node drops further lines without an error.
  server.maxHeadersCount = MAX_HEADER_LINES + 1;
  return server;
}

/** Resolves with the port; rejects if it can't listen on the address. */
export async function listen(server: Server, port: number, host: string | undefined) {
  server.listen(port, host, BACKLOG);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The URL for a browser on this machine. */
export function toUrl(host: string | undefined, port: number) {
  if (host === undefined || ["0.0.0.0", "::"].includes(host)) return `http://localhost:${port}`;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
