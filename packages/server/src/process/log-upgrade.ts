import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { findClientAddress, type TrustProxy } from "../http/client-address.ts";
import { parseRequestTarget } from "../http/request-target.ts";
import { toLogText, withoutPrivateParts } from "../telemetry/log-text.ts";

type Options = { log: Logger; trustProxy: TrustProxy };

/** Logs an upgrade, such as to WebSocket. The services respond to it, so it has no status. */
export function logUpgrade(req: IncomingMessage, { log, trustProxy }: Options) {
  log.info(toUpgradeFields(req, trustProxy), "upgrade");
}

/** The fields of every log line of an upgrade. */
export function toUpgradeFields(req: IncomingMessage, trustProxy: TrustProxy) {
  const { method, url = "" } = req;
  const path = toLogText(parseRequestTarget(url)?.path ?? withoutPrivateParts(url));
  const userAgent = toLogText(req.headers["user-agent"]);
  const client = { "client.address": findClientAddress(req, trustProxy), "user_agent.original": userAgent };
  return { "http.request.method": method, "url.path": path, ...client };
}
