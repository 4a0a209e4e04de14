import type { Request, RequestHandler, Response } from "express";
import onHeaders from "on-headers";
import { isEventStream } from "../http/content-coding.ts";
import { hasBody, headLength } from "../http/request-target.ts";
import { FILE_ROUTE } from "../locals.ts";
import { countSent } from "../node-internals.ts";
import { findHttpRoute } from "../telemetry/request-log-fields.ts";
import { countCopies, findMaxBodyBytes, findSetMaxBytes } from "./body-limit.ts";
import type { Limits } from "./limits.ts";
import { waitsForClient } from "./progress.ts";
import type { SlotQueue } from "./slot-queue.ts";

/** A mount path with parameters has any number of paths. The first event stream of a further one has a slot of renders. */
const MAX_OPEN_ROUTES = 100;
/** The buffers of Node and Fetch for a streamed body. */
const STREAM_BYTES = 256 * 1024;
/** Node keeps a head as strings. So a request with a longer head counts against MAX_BODY_MEMORY_BYTES. */
const MAX_SMALL_HEAD = 4096;
/** After this time, a slow client can be disconnected. */
const GRACE_MS = 1000;
const CUT_INTERVAL_MS = 100;

export type ShedReason = "queue" | "slow_client" | "timeout";

type Options = {
  limits: Limits;
  /** Renders: small requests without a body. */
  renders: SlotQueue;
  /** The bytes of request bodies and of large heads. */
  bodies: SlotQueue;
  /** Files, event streams, and pages from their head on. */
  openResponses: SlotQueue;
  maxBodyBytes: number;
  handlerTimeoutMs: number;
  recordShed: (reason: ShedReason) => void;
};

/** The data rate of a client that has been admitted is measured from here on. */
type Measured = { route: string; since: number; sent: number; read: number };

/**
 * Admits requests: each holds a slot of one of three queues (slot-queue.ts) while it runs. When its response begins, it
 * moves to `openResponses`, so that slow readers take no slots of renders. While others wait for a limit,
 * the slowest client that sends to it or reads from it is disconnected.
 */
export function createAdmission(options: Options): { admit: RequestHandler; close: () => void } {
  const { limits, renders, bodies, openResponses, maxBodyBytes, handlerTimeoutMs, recordShed } = options;
  /** Files and event streams only take a slot of `openResponses`. A route is added by its first event stream. */
  const openRoutes = new Set([FILE_ROUTE]);
  const admitted = new Map([renders, bodies, openResponses].map((slots) => [slots, new Map<Response, Measured>()]));

  const cutting = setInterval(() => {
    for (const [slots, clients] of admitted) {
      const blocked = slots.findBlocked();
      if (blocked) cutSlowest(clients, blocked.route);
      else slots.schedule(); // The heap may have been full before, or a waiting body has arrived.
    }
  }, CUT_INTERVAL_MS).unref();

  /** Of a route, if it holds its share, or else of all. */
  function cutSlowest(clients: Map<Response, Measured>, blockedRoute: string | undefined) {
    const now = performance.now();
    const rates = [...clients]
      .filter(([, { route }]) => blockedRoute === undefined || route === blockedRoute)
      .filter(([{ req, closed }, { since }]) => !closed && now - since > GRACE_MS && waitsForClient(req.socket, req))
      .map(([{ req }, { since, sent, read }]) => {
        const { socket } = req;
        // What a client sends doesn't count while it doesn't read.
        const bytes = countSent(socket) - sent + (socket.writableLength > 0 ? 0 : socket.bytesRead - read);
        return { socket, rate: bytes / (now - since) };
      });
    const slowest = rates.sort((a, b) => a.rate - b.rate)[0];
    if (!slowest) return;
    recordShed("slow_client");
    slowest.socket.resetAndDestroy();
  }

  /** Returns a function that releases the slot. */
  function hold(slots: SlotQueue, res: Response, route: string, release: () => void) {
    const { socket } = res.req;
    const clients = admitted.get(slots);
    clients?.set(res, { route, since: performance.now(), sent: countSent(socket), read: socket.bytesRead });
    return () => {
      clients?.delete(res);
      release();
    };
  }

  return {
    admit: (req, res, next) => {
      if (res.closed) return; // Its "close" event is over, so nothing would release the slot.
      const isSmall = !hasBody(req) && headLength(req) <= MAX_SMALL_HEAD;
      const isOpen = isSmall && openRoutes.has(findHttpRoute(res) ?? "");
      const route = findShare(req, res);
      const slots = isOpen ? openResponses : isSmall ? renders : bodies;

      const handle = (acquired: () => void) => {
        let release = hold(slots, res, route, acquired);
        const running = new Set<Promise<unknown>>();
        res.locals.running = running;
        res.once("close", () => {
          // A loader may run on after its client has left. It takes memory, so it has its slot until it ends or times
          // out.
          const timer = setTimeout(end, handlerTimeoutMs);
          function end() {
            clearTimeout(timer);
            release();
            release = () => {};
          }
          Promise.allSettled(running).then(end);
        });
        onHeaders(res, () => {
          // The client has left. Or it gets 503, after HANDLER_TIMEOUT_MS or at MAX_CONNECTIONS, and the loaders go on.
          if (res.closed || res.statusCode === 503) return;
          if (isEventStream(res) && openRoutes.size < MAX_OPEN_ROUTES) openRoutes.add(findHttpRoute(res) ?? "");
          // The loaders are done: from now on, the client is measured as a reader.
          const place = isOpen ? acquired : openResponses.tryAcquire();
          if (place) {
            if (!isOpen) release();
            release = hold(openResponses, res, route, place);
          } else if (isEventStream(res)) {
            // It would have its slot for hours. The browser connects again, and then waits for a place.
            recordShed("queue");
            res.destroy();
          } else release = hold(slots, res, route, release);
        });
        next();
      };

      slots
        // A site may have one route of event streams, which take all slots by design, and files are one route, too.
        .acquire({ weight: isSmall ? 1 : findWeight(req, res), route: isOpen ? undefined : route }, res)
        .then(handle)
        .catch((error) => !res.closed && next(error));
    },
    close: () => clearInterval(cutting),
  };

  /**
   * In bytes. A body that is larger than the limit, with its copies, must be streamed (docs/uploads-and-streams.md).
   */
  function findWeight(req: Request, res: Response) {
    const copies = countCopies(req);
    const max = findMaxBodyBytes(req, res, maxBodyBytes);
    const isStreamed = findSetMaxBytes(res.locals) !== undefined && copies * max > limits.MAX_BODY_MEMORY_BYTES;
    if (isStreamed || !hasBody(req)) return STREAM_BYTES;
    return STREAM_BYTES + copies * Math.min(Number(req.headers["content-length"] ?? max), max);
  }
}

/** Requests of one route share slots: also those of a handler in front, whose mount path may have parameters. */
function findShare(req: Request, res: Response) {
  const route = findHttpRoute(res) ?? "";
  const values = Object.values(req.params).flat();
  if (values.length === 0) return route;
  const isFixed = (segment: string) => !values.some((value) => value.toLowerCase() === decodeURIComponent(segment));
  return route.split("/").filter(isFixed).join("/");
}
