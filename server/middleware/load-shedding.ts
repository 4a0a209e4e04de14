import { type IncomingMessage, ServerResponse } from "node:http";
import createHttpError from "http-errors";
import onHeaders from "on-headers";
import type { Middleware } from "../chain.ts";
import { hasBody, headLength } from "../http/request-target.ts";
import type { Limits } from "../limits.ts";
import { createSemaphore, type Semaphore } from "../semaphore.ts";
import { countCopies, findMaxBodyBytes } from "./body-limit.ts";
import { isEventStream } from "./compression.ts";
import { FILE_ROUTE } from "./match-route.ts";

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
  maxBodyBytes: number;
  handlerTimeoutMs: number;
  recordShed: (reason: ShedReason) => void;
  measureUsage: (name: keyof Limits, read: () => number) => void;
};

/**
 * Load shedding: limits the requests that Express handles at once. More wait in order for 5 s, then they get 503. The
 * bytes of request bodies and the number of open responses have limits of their own, so that uploads, event streams and
 * files take no slots of pages.
 */
export function loadShedding(options: Options): Middleware {
  const { limits, requests, maxBodyBytes, handlerTimeoutMs, recordShed, measureUsage } = options;
  const onShed = () => recordShed("queue");
  const maxWaiting = Math.ceil(limits.MAX_BODY_MEMORY_BYTES / WAITING_BYTES);
  const bodies = createSemaphore({
    limit: limits.MAX_BODY_MEMORY_BYTES,
    maxWaiting,
    // A form that has arrived doesn't wait for slow clients.
    isPreferred: (res) => res instanceof ServerResponse && res.req.complete,
    onShed,
  });
  const openResponses = createSemaphore({ limit: limits.MAX_OPEN_RESPONSES, onShed });
  /** Files and event streams only take a slot of `openResponses`. A route is added by its first event stream. */
  const openRoutes = new Set<string | undefined>([FILE_ROUTE]);
  const arriving = new Map<IncomingMessage, { since: number; bytesBefore: number }>();
  measureUsage("MAX_CONCURRENT_REQUESTS", requests.getUsed);
  measureUsage("MAX_BODY_MEMORY_BYTES", bodies.getUsed);
  measureUsage("MAX_OPEN_RESPONSES", openResponses.getUsed);

  /** While bodies wait, disconnects the client with the lowest data rate. */
  setInterval(() => {
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

  return (req, res, next) => {
    if (res.closed) return; // Its "close" event is over, so nothing would release the slot.
    const { route, httpRoute } = res.locals;
    const isSmall = !hasBody(req) && headLength(req) <= MAX_SMALL_HEAD;
    const isOpen = isSmall && openRoutes.has(httpRoute);
    const acquire = () => {
      if (isSmall) return (isOpen ? openResponses : requests).acquire(1, res);
      // If a route's largest body, with its copies, exceeds the limit, it must be streamed (docs/uploads-and-streams.md).
      const copies = countCopies(req);
      const isStreamed = copies * (route?.maxBodyBytes ?? 0) > limits.MAX_BODY_MEMORY_BYTES;
      const max = findMaxBodyBytes(req, route, maxBodyBytes);
      const length = hasBody(req) ? Math.min(Number(req.headers["content-length"] ?? max), max) : 0;
      return bodies.acquire(STREAM_BYTES + (isStreamed ? 0 : copies * length), res);
    };

    const handle = (acquired: () => void) => {
      let release = acquired;
      let { bytesRead } = req.socket;
      let hasTimedOut = false;
      let timer = setTimeout(() => {
        if (!req.complete && req.socket.bytesRead > bytesRead) {
          bytesRead = req.socket.bytesRead;
          return timer.refresh(); // An upload progresses.
        }
        hasTimedOut = true;
        recordShed("timeout");
        next(createHttpError(503, `no response within ${handlerTimeoutMs} ms`));
      }, handlerTimeoutMs);
      if (hasBody(req)) arriving.set(req, { since: performance.now(), bytesBefore: req.socket.bytesRead });
      const end = () => {
        clearTimeout(timer);
        release();
        release = () => {};
      };
      res.once("close", () => {
        clearTimeout(timer);
        arriving.delete(req);
        // A loader may run on after its client has left. It takes memory, so it has its slot until it ends or times out.
        if (!hasTimedOut) timer = setTimeout(end, handlerTimeoutMs);
        Promise.allSettled(hasTimedOut ? [] : res.locals.running).then(end);
      });
      onHeaders(res, () => {
        if (res.closed) return; // The client has left.
        clearTimeout(timer);
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
      res.locals.running = new Set();
      next();
    };

    acquire()
      .then(handle)
      .catch((error) => !res.closed && next(error));
  };
}

function isWaitingForBytes(req: IncomingMessage) {
  return !req.complete && req.readableLength === 0;
}
