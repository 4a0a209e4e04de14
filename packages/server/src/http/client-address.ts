import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import proxyaddr from "proxy-addr";

/** The prefix of IPv4 addresses if the server listens on all interfaces. */
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

/** Whether the client at a distance of `hop` proxies is a trusted proxy. */
export type TrustProxy = (address: string, hop: number) => boolean;

/** The client's address from the headers of trusted proxies, or else from the connection. */
export function findClientAddress(req: IncomingMessage, trustProxy: TrustProxy) {
  const peer = req.socket.remoteAddress?.replace(IPV4_IN_IPV6, "");
  if (req.headers["x-forwarded-for"] === undefined) return peer;
  const address = proxyaddr(req, trustProxy);
  return isIP(address) ? address : peer;
}
