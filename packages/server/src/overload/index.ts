import { type Server, ServerResponse } from "node:http";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import createHttpError from "http-errors";
import type { Registry } from "prom-client";
import { hasBody } from "../http/request-target.ts";
import { countBy, gauge } from "../telemetry/metrics.ts";
import { bodyLimit } from "./body-limit.ts";
import { type Connections, type DropReason, guardConnections } from "./connections.ts";
import { createAdmission, type ShedReason } from "./hold-slot.ts";
import type { Limits } from "./limits.ts";
import type { MeasureUsage } from "./measure-limits.ts";
import { createSlotQueue, OVERLOADED, type SlotQueue } from "./slot-queue.ts";
import { createTurns } from "./turns.ts";

export { isBodyLimit, linger, maxBodyBytes } from "./body-limit.ts";
export { type Connections, guardConnections } from "./connections.ts";
export { inTime } from "./in-time.ts";
export { createLimits, type LimitName, type Limits } from "./limits.ts";
export { type MeasureUsage, measureLimits } from "./measure-limits.ts";
export type { SlotQueue } from "./slot-queue.ts";
export { OVERLOADED } from "./slot-queue.ts";

/** Node buffers up to this much of a body before the route reads it. */
const WAITING_BYTES = 128 * 1024;

/** The share of the slots of renders that only the page cache gets. */
const CACHE_RESERVE = 1 / 8;

type Options = {
  limits: Limits;
  settings: { BODY_SIZE_LIMIT_BYTES: number; CLIENT_TIMEOUT_MS: number; HANDLER_TIMEOUT_MS: number };
  /** The headers of each response. */
  headers: Record<string, string>;
  handleErrors: ErrorRequestHandler;
  registry: Registry;
  measureUsage: MeasureUsage;
};

type Protection = {
  /** Rejects a body that is too large, and admits others before anything reads them. */
  admitBody: RequestHandler;
  /** Admits a request, unless it has been admitted with its body. */
  admit: RequestHandler;
  renderSlots: SlotQueue;
  /** Limits the connections of a server. */
  guard: (server: Server) => Connections;
  close: () => void;
};

/** Everything against overload (README.md): the middleware, and a function that guards the connections of a server. */
export function protectFromOverload(options: Options): Protection {
  const { limits, settings, headers, handleErrors, registry, measureUsage } = options;
  const { BODY_SIZE_LIMIT_BYTES: maxBodyBytes, HANDLER_TIMEOUT_MS: handlerTimeoutMs } = settings;
  const recordShed = countBy<ShedReason>(registry, {
    name: "requests_shed_total",
    help: "Requests that got 503 or were cut.",
    label: "reason",
    values: {
      queue: "waited for 5 s, or too many waited, or an event stream got no slot",
      slow_client: "others waited for a slot, and its client was the slowest",
      timeout: "no response within HANDLER_TIMEOUT_MS",
    },
  });
  const recordConnectionDropped = countBy<DropReason>(registry, {
    name: "connections_dropped_total",
    help: "Connections that the server closed.",
    label: "reason",
    values: {
      limit: "for a new one, at MAX_CONNECTIONS",
      stalled: "less than 240 bytes per second over CLIENT_TIMEOUT_MS",
      idle: "after KEEP_ALIVE_TIMEOUT_MS",
      pipelined: "more than 10 MiB of pipelined requests on all connections",
      small_chunks: "a long body in chunks of less than 128 bytes on average",
    },
  });
  const turns = createTurns();
  const onShed = () => recordShed("queue");
  const renders = createSlotQueue({
    limit: limits.MAX_CONCURRENT_REQUESTS,
    maxWaiting: limits.MAX_CONNECTIONS, // About one for each connection. Renders for the cache wait here, too.
    reserve: CACHE_RESERVE,
    turns,
    onShed,
  });
  const bodies = createSlotQueue({
    limit: limits.MAX_BODY_MEMORY_BYTES,
    maxWaiting: Math.ceil(limits.MAX_BODY_MEMORY_BYTES / WAITING_BYTES),
    // A form that has arrived doesn't wait for slow clients.
    isPreferred: (res) => res instanceof ServerResponse && res.req.complete,
    turns,
    onShed,
  });
  const openResponses = createSlotQueue({ limit: limits.MAX_OPEN_RESPONSES, turns, onShed });
  measureUsage("MAX_CONCURRENT_REQUESTS", renders.getUsed);
  measureUsage("MAX_BODY_MEMORY_BYTES", bodies.getUsed);
  measureUsage("MAX_OPEN_RESPONSES", openResponses.getUsed);

  const { admit, close } = createAdmission({
    limits,
    renders,
    bodies,
    openResponses,
    maxBodyBytes,
    handlerTimeoutMs,
    recordShed,
  });
  const limitBody = bodyLimit(maxBodyBytes, handleErrors);

  const admitBody: RequestHandler = (req, res, next) => {
    if (!hasBody(req)) return next();
    limitBody(req, res, (error) => (error ? next(error) : admit(req, res, next)));
  };
  const admitOnce: RequestHandler = (req, res, next) => (res.locals.running ? next() : admit(req, res, next));

  /** A pending request gets it before its connection is closed. It may not have reached `receive`. */
  const overloaded = createHttpError(503, {
    expose: true,
    headers: { ...headers, ...OVERLOADED.headers, Connection: "close" },
  });
  const sendError = (res: ServerResponse, error: Error) =>
    handleErrors(error, res.req as Request, res as Response, () => {});

  const guard = (server: Server) => {
    const connections = guardConnections(server, {
      maxConnections: limits.MAX_CONNECTIONS,
      clientTimeoutMs: settings.CLIENT_TIMEOUT_MS,
      handlerTimeoutMs,
      onAccept: turns.recordAccept,
      onDrop: recordConnectionDropped,
      onLimit: (res) => sendError(res, overloaded),
      onHandlerTimeout(res) {
        recordShed("timeout");
        sendError(res, createHttpError(503, `no response within ${handlerTimeoutMs} ms`));
      },
    });
    const countOpen = () => connections.all.size;
    gauge(
      registry,
      "http_server_active_requests",
      "Requests whose responses have not ended.",
      connections.countPending,
    );
    gauge(registry, "http_server_open_connections", "Connections that clients have open.", countOpen);
    measureUsage("MAX_CONNECTIONS", countOpen);
    return connections;
  };
  return { admitBody, admit: admitOnce, renderSlots: renders, guard, close };
}
