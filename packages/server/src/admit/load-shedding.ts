import { type IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import onHeaders from "on-headers";
import { hasBody, headLength } from "../http/request-target.ts";
import { countCopies, findMaxBodyBytes, findSetMaxBytes } from "../receive/body-limit.ts";
import { FILE_ROUTE } from "../receive/match-route.ts";
import { isEventStream } from "../render/compression.ts";
import type { Limits } from "../start/limits.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { Turns } from "./turns.ts";

/** The buffers of Node and Fetch for a streamed body. */
const STREAM_BYTES = 256 * 1024;
/** Node keeps a head as strings. So a request with a longer head counts against MAX_BODY_MEMORY_BYTES. */
const MAX_SMALL_HEAD = 4096;
/** Node buffers up to this much of a body before the route reads it. */
const WAITING_BYTES = 128 * 1024;
/** After this time, a slow body can be disconnected. */
const GRACE_MS = 1000;
const CUT_INTERVAL_MS = 100;

export type ShedReason = "queue" | "slow_body" | "timeout";

type Options = {
  limits: Limits;
  /** Small requests without a body, and renders of cached pages. */
  requests: Semaphore;
  turns: Turns;
  maxBodyBytes: number;
  handlerTimeoutMs: number;
  recordShed: (reason: ShedReason) => void;
  measureUsage: (name: keyof Limits, read: () => number) => void;
};

type LoadShedding = {
  admit: RequestHandler;
  /** Admits a request, unless it has been admitted with its body. */
  admitOnce: RequestHandler;
  close: () => void;
};

/**
 * Load shedding: limits the requests that are handled at once. More wait in order for 5 s, then they get 503. The bytes
 * of request bodies and the number of open responses have limits of their own, so that uploads, event streams and files
 * take no slots of pages.
 */
export function loadShedding(options: Options): LoadShedding {
  const { limits, requests, turns, maxBodyBytes, handlerTimeoutMs, recordShed, measureUsage } = options;
  const onShed = () => recordShed("queue");
  const maxWaiting = Math.ceil(limits.MAX_BODY_MEMORY_BYTES / WAITING_BYTES);
  const bodies = createSemaphore({
    limit: limits.MAX_BODY_MEMORY_BYTES,
    maxWaiting,
    turns,
    // A form that has arrived doesn't wait for slow clients.
    isPreferred: (res) => res instanceof ServerResponse && res.req.complete,
    onShed,
  });
  const openResponses = createSemaphore({ limit: limits.MAX_OPEN_RESPONSES, turns, onShed });
  /** Files and event streams only take a slot of `openResponses`. A route is added by its first event stream. */
  const openRoutes = new Set<string | undefined>([FILE_ROUTE]);
  const arriving = new Map<IncomingMessage, { since: number; bytesBefore: number }>();
  measureUsage("MAX_CONCURRENT_REQUESTS", requests.getUsed);
  measureUsage("MAX_BODY_MEMORY_BYTES", bodies.getUsed);
  measureUsage("MAX_OPEN_RESPONSES", openResponses.getUsed);

  /** While bodies wait, disconnects the client with the lowest data rate. */
  const cutting = setInterval(() => {
    if (!bodies.hasWaiting()) return;
    const now = performance.now();
    const rates = [...arriving]
      .filter(([req, { since }]) => isWaitingForBytes(req) && now - since > GRACE_MS)
      .map(([req, { since, bytesBefore }]) => ({ req, rate: (req.socket.bytesRead - bytesBefore) / (now - since) }));
    const slowest = rates.sort((a, b) => a.rate - b.rate)[0];
    if (!slowest) return;
    recordShed("slow_body");
    slowest.req.destroy();
  }, CUT_INTERVAL_MS).unref();

  const admit: RequestHandler = (req, res, next) => {
    if (res.closed) return; // Its "close" event is over, so nothing would release the slot.
    const { httpRoute } = res.locals;
    const isSmall = !hasBody(req) && headLength(req) <= MAX_SMALL_HEAD;
    const isOpen = isSmall && openRoutes.has(httpRoute);
    const acquire = () => {
      if (isSmall) return (isOpen ? openResponses : requests).acquire(1, res);
      // If the largest body of a handler, with its copies, exceeds the limit, it must be streamed (docs/uploads-and-streams.md).
      const copies = countCopies(req);
      const isStreamed = copies * (findSetMaxBytes(res.locals) ?? 0) > limits.MAX_BODY_MEMORY_BYTES;
      const max = findMaxBodyBytes(req, res, maxBodyBytes);
      const length = hasBody(req) ? Math.min(Number(req.headers["content-length"] ?? max), max) : 0;
      return bodies.acquire(STREAM_BYTES + (isStreamed ? 0 : copies * length), res);
    };

    const handle = (acquired: () => void) => {
      let release = acquired;
      const running = new Set<Promise<unknown>>();
      res.locals.running = running;
      if (hasBody(req)) arriving.set(req, { since: performance.now(), bytesBefore: req.socket.bytesRead });
      res.once("close", () => {
        arriving.delete(req);
        // A loader may run on after its client has left. It takes memory, so it has its slot until it ends or times out.
        // After a 503, it has timed out already.
        const timer = setTimeout(end, res.locals.errorStatus === 503 ? 0 : handlerTimeoutMs);
        function end() {
          clearTimeout(timer);
          release();
          release = () => {};
        }
        Promise.allSettled(running).then(end);
      });
      onHeaders(res, () => {
        if (res.closed) return; // The client has left.
        if (isEventStream(res)) openRoutes.add(httpRoute);
        if (isOpen) return;
        // The loaders are done: the response moves from the slots of renders to those of open responses.
        const place = openResponses.tryAcquire();
        if (!place) {
          if (!isEventStream(res)) return;
          // It would have its slot for hours. The browser connects again, and then waits for a place.
          recordShed("queue");
          return void res.destroy();
        }
        release();
        release = place;
      });
      // While it waited, the client may have got a 413 or a 503.
      if (!res.headersSent) next();
    };

    acquire()
      .then(handle)
      .catch((error) => !res.closed && next(error));
  };

  return {
    admit,
    admitOnce: (req, res, next) => (res.locals.running ? next() : admit(req, res, next)),
    close: () => clearInterval(cutting),
  };
}

function isWaitingForBytes(req: IncomingMessage) {
  return !req.complete && req.readableLength === 0;
}
