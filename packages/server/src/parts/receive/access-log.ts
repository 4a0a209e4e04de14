import type { Request, Response } from "express";
import type { Logger } from "pino";
import { findClientAddress, type TrustProxy } from "../../http/client-address.ts";
import type { MeasuredPart } from "../../pages/context.ts";
import { toLogText, withoutPrivateParts } from "../../telemetry/log-text.ts";
import { findHttpRoute } from "../../telemetry/request-log-fields.ts";
import type { RecordRequest } from "./request-metrics.ts";
import { readRequestId, readTraceId } from "./trace-context.ts";

type Options = { log: Logger; recordRequest: RecordRequest; trustProxy: TrustProxy };

/** The alert SiteSlow counts the same requests. */
const SLOW_SECONDS = 1;
/** Pages and their data. Clients leave other streams when they like. */
const PAGE_TYPES = /^text\/(html|x-script)/;

/**
 * Gives each request its ids. Logs and measures it once its response has ended, with the names of OpenTelemetry's
 * conventions.
 */
export function accessLog({ log, recordRequest, trustProxy }: Options) {
  return (req: Request, res: Response) => {
    const startedAt = performance.now();
    const requestId = readRequestId(req.headers);
    const traceId = readTraceId(req.headers);
    res.locals.requestId = requestId;
    res.locals.traceId = traceId;
    const { socket, method = "", originalUrl } = req;
    const bytesBefore = socket.bytesWritten;
    const client = findClientAddress(req, trustProxy); // A closed socket has no address.
    res.on("close", () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const errorType = res.writableFinished ? undefined : "aborted";
      const { target, errorStatus, parts, cachedParts } = res.locals;
      const httpRoute = findHttpRoute(res);
      const status = res.headersSent ? (errorStatus ?? res.statusCode) : undefined;
      const waited = errorType !== undefined && req.complete && (!res.headersSent || waitsForRest(res));
      recordRequest(method, status, httpRoute, errorType, seconds, waited);
      log.info(
        {
          // Field by field, since a spread is several times slower.
          "http.request.id": requestId,
          trace_id: traceId,
          "http.request.method": method,
          "url.path": toLogText(target?.path ?? withoutPrivateParts(originalUrl)),
          "http.route": httpRoute,
          "http.response.status_code": status,
          "http.response.size": socket.bytesWritten - bytesBefore,
          "http.server.request.duration": Math.round(seconds * 1e6) / 1e6,
          slowest_part: seconds < SLOW_SECONDS ? undefined : findSlowest([...(cachedParts ?? []), ...(parts ?? [])]),
          "client.address": client,
          "user_agent.original": toLogText(req.headers["user-agent"]),
          "error.type": errorType,
        },
        "request",
      );
    });
  };
}

/** Whether a streamed page has more to come, as when its data is slow. */
function waitsForRest(res: Response) {
  return res.locals.waitsForBody === true && PAGE_TYPES.test(String(res.getHeader("Content-Type")));
}

/** The slowest part with its duration. If the client has left or got a 503, parts may still run. */
function findSlowest(parts: MeasuredPart[]) {
  const now = performance.now();
  const durations = parts.map(({ name, startedAt, endedAt = now }) => ({ name, ms: Math.round(endedAt - startedAt) }));
  const [slowest] = durations.sort((a, b) => b.ms - a.ms);
  return slowest && `${slowest.name} ${slowest.ms} ms`;
}
