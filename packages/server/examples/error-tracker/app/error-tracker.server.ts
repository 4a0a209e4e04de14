import { randomUUID } from "node:crypto";
import type { ErrorRequestHandler, RequestHandler } from "express";
import { createContext, isRouteErrorResponse } from "react-router";
import { handleError as logError } from "react-router-express-server";
import * as v from "valibot";

export const trackerSettings = {
  /** Without it, errors are in the log only. */
  TRACKER_DSN: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/\w+@[^/]+\/.*\d$/, "like https://key@host/1"))),
};

/** One error can repeat for each request, and anybody can send reports. */
const MAX_PER_MINUTE = 60;
const TIMEOUT_MS = 5000;
const MAX_STACK_LINES = 50;
/** A stack of a browser can be any text, and long lines take long. */
const MAX_LINE_LENGTH = 500;
const FRAME = /^\s*(?:at )?(?:(.*?)(?: \(|@))?([^\s()]+):(\d+):(\d+)\)?$/;

/** What `report-error.ts` of the engine sends. */
const Report = v.object({
  type: v.literal("error"),
  url: v.string(),
  body: v.object({
    name: v.string(),
    message: v.string(),
    stack: v.optional(v.string()),
    release: v.optional(v.string()),
  }),
});

type Failure = { name: string; message: string; stack?: string | undefined; cause?: unknown };
type Details = { platform: "node" | "javascript"; url?: string; release?: string | undefined };
type Log = { warn: (fields: object, message: string) => void };

export type Tracker = ReturnType<typeof createTracker>;

export const trackerContext = createContext<Tracker>();

/** Sends errors to Sentry, or to another tracker with its API (https://develop.sentry.dev/sdk/foundations/transport/). */
export function createTracker({ TRACKER_DSN }: { TRACKER_DSN?: string | undefined }, log: Log) {
  const send = TRACKER_DSN === undefined ? undefined : createSend(TRACKER_DSN);
  const sending = new Set<Promise<unknown>>();
  const isWithinLimit = limitRate(MAX_PER_MINUTE);

  function capture(error: unknown, details: Details = { platform: "node" }) {
    if (!send || !isWithinLimit()) return;
    const sent = send(toEvent(error, details))
      .catch((err) => log.warn({ err }, "the tracker has not got an error"))
      .finally(() => sending.delete(sent));
    sending.add(sent);
  }

  /** In front of `handleErrors`. Errors of clients have `expose`. */
  const captureErrors: ErrorRequestHandler = (error, req, _res, next) => {
    if (!error?.expose) capture(error, { platform: "node", url: req.path });
    next(error);
  };

  /** Before `collectReports`, which parses the reports of browsers and responds. */
  const captureReports: RequestHandler = (req, res, next) => {
    if (req.method === "POST" && req.path === "/browser-reports") {
      res.once("finish", () => {
        for (const { url, body } of findErrors(req.body)) {
          capture(body, { platform: "javascript", url: url.replace(/[?#].*/s, ""), release: body.release });
        }
      });
    }
    next();
  };

  return { capture, captureErrors, captureReports, close: () => Promise.all(sending) };
}

/** For `entry.server.tsx`: logs and captures errors of loaders, actions and renders. */
export const handleError: typeof logError = (error, args) => {
  logError(error, args);
  const { request, context } = args;
  if (isRouteErrorResponse(error) || request.signal.aborted) return;
  context.get(trackerContext).capture(error, { platform: "node", url: new URL(request.url).pathname });
};

const findErrors = (reports: unknown) =>
  (Array.isArray(reports) ? reports : []).filter((report) => v.is(Report, report));

function createSend(dsn: string) {
  const { protocol, username, host, pathname } = new URL(dsn);
  const [project, ...path] = pathname.split("/").reverse();
  const url = `${protocol}//${host}${path.reverse().join("/")}/api/${project}/envelope/`;
  return async (event: { event_id: string }) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-sentry-envelope",
        "X-Sentry-Auth": `Sentry sentry_version=7, sentry_key=${username}`,
      },
      body: [{ event_id: event.event_id }, { type: "event" }, event].map((line) => JSON.stringify(line)).join("\n"),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the tracker has responded with ${response.status}`);
  };
}

function toEvent(error: unknown, { platform, url, release }: Details) {
  const failures: Failure[] = [];
  let failure = isFailure(error) ? error : new Error(String(error));
  while (failures.push(failure) < 5 && isFailure(failure.cause)) failure = failure.cause;
  return {
    event_id: randomUUID().replaceAll("-", ""),
    timestamp: Date.now() / 1000,
    level: "error",
    platform,
    release,
    request: { url },
    // The cause is first.
    exception: { values: failures.reverse().map(toException) },
  };
}

const isFailure = (error: unknown): error is Failure =>
  typeof error === "object" && error !== null && "name" in error && "message" in error;

const toException = ({ name, message, stack = "" }: Failure) => ({
  type: name,
  value: message,
  stacktrace: { frames: toFrames(stack) },
});

/** The lines of a stack, as Chromium and Node, or Firefox and Safari, write them. The caller is first. */
function toFrames(stack: string) {
  const lines = stack.split("\n", MAX_STACK_LINES).filter(({ length }) => length <= MAX_LINE_LENGTH);
  const frames = lines.flatMap((line) => {
    const [, name, filename, lineno, colno] = FRAME.exec(line) ?? [];
    return filename ? { function: name || "?", filename, lineno: Number(lineno), colno: Number(colno) } : [];
  });
  return frames.reverse();
}

function limitRate(perMinute: number) {
  let minute = 0;
  let count = 0;
  return () => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) count = 0;
    minute = now;
    count += 1;
    return count <= perMinute;
  };
}
