import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { UpgradeHandler } from "../define-server.ts";
import { findClientAddress, type TrustProxy } from "../http/client-address.ts";
import { hasBody, parseRequest, parseRequestTarget } from "../http/request-target.ts";
import type { Connections } from "../overload/index.ts";
import { limitRate } from "../telemetry/limit-rate.ts";
import { toLogText, withoutPrivateParts } from "../telemetry/log-text.ts";
import { count } from "../telemetry/metrics.ts";
import type { Reject } from "./parser-errors.ts";

/** The most log lines per second. */
const MAX_ERRORS_LOGGED = 10;

type Options = {
  upgrade: UpgradeHandler;
  reject: Reject;
  registry: Registry;
  log: Logger;
  trustProxy: TrustProxy;
};

/** Passes upgrades, such as to WebSocket, to the services. Rejects malformed ones. Each is logged and counted. */
export function handleUpgrades(server: Server, connections: Connections, options: Options) {
  const { upgrade, reject, registry, log, trustProxy } = options;
  const record = count(
    registry,
    "http_upgrade_requests_total",
    "Requests for another protocol, such as WebSockets, which the services respond to.",
  );
  const logError = limitRate(MAX_ERRORS_LOGGED, (fields: object) => log.error(fields, "upgrade failed"));
  server.on("upgrade", (req: IncomingMessage, stream: Duplex, head: Buffer) => {
    const { socket } = req;
    // Node has removed its listener, and an error would end the process. Since Node 26, the stream isn't the socket if
    // there is a body (nodejs/node#60016).
    stream.on("error", () => {});
    if (hasBody(req) || !parseRequest(req)) return reject(socket, 400, "upgrade");
    record();
    // The services respond to it, so it has no status.
    log.info(toUpgradeFields(req, trustProxy), "upgrade");
    // The response to an earlier request would get in between the other protocol's bytes.
    if (!connections.upgrade(socket)) return socket.destroy();
    const before = socket.bytesWritten;
    const run = async () => upgrade(req, socket, head); // It may be async, too.
    run().catch((err) => {
      logError({ err, ...toUpgradeFields(req, trustProxy) });
      // If it has responded, another response would be a part of its protocol.
      if (socket.bytesWritten > before) socket.destroy();
      else reject(socket, 400, "upgrade");
    });
  });
}

/** The fields of every log line of an upgrade. */
function toUpgradeFields(req: IncomingMessage, trustProxy: TrustProxy) {
  const { method, url = "" } = req;
  const path = toLogText(parseRequestTarget(url)?.path ?? withoutPrivateParts(url));
  const userAgent = toLogText(req.headers["user-agent"]);
  const client = { "client.address": findClientAddress(req, trustProxy), "user_agent.original": userAgent };
  return { "http.request.method": method, "url.path": path, ...client };
}
