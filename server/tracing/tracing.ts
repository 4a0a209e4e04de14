import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { RequestHandler } from "express";
import type { ServerInstrumentation } from "react-router";

// OpenTelemetry spans that follow its HTTP conventions. Without the SDK in the process, they do nothing.

const tracer = trace.getTracer("greeting");

/** Starts a span for each request that React Router responds to, in the client's trace (`traceparent`). */
const middleware: RequestHandler = (req, res, next) => {
  const { target, httpRoute } = res.locals;
  const parent = propagation.extract(context.active(), req.headers);
  const span = tracer.startSpan(`${req.method} ${httpRoute}`, { kind: SpanKind.SERVER }, parent);
  if (span.isRecording()) {
    span.setAttributes({
      "http.request.method": req.method,
      "http.route": httpRoute,
      "url.path": target.path,
      "url.scheme": req.protocol,
    });
    res.once("close", () => {
      span.setAttribute("http.response.status_code", res.statusCode);
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
  }
  context.with(trace.setSpan(parent, span), next);
};

/** Starts a span, and ends it when `run` resolves. If `run` resolves with an error, the span records it. */
function startSpan(name: string, run: () => Promise<Error | undefined>) {
  return tracer.startActiveSpan(name, async (span) => {
    const error = await run();
    if (error) {
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  });
}

type Handle = () => Promise<{ error: Error | undefined }>;

const spanFor = (name: string) => (handle: Handle) => startSpan(name, async () => (await handle()).error);

/** A span for each loader and action. */
const instrumentation: ServerInstrumentation = {
  route: ({ id, instrument }) => instrument({ loader: spanFor(`loader ${id}`), action: spanFor(`action ${id}`) }),
};

/** A span until the render has ended. */
const render = (ended: Promise<Error | undefined>) => startSpan("render", () => ended);

export const tracing = { middleware, instrumentation, render };
