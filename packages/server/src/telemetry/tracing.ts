import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { RequestHandler } from "express";
import type { Trace } from "../pages/context.ts";

// OpenTelemetry spans that follow its HTTP conventions. Without the SDK in the process, they do nothing.

const tracer = trace.getTracer("react-router-express-server");

/**
 * Starts a span for each request, in the client's trace (`traceparent`) or inside the active span, and one for each
 * loader, action and render of it. Use it behind `admit`, so that files and cached pages have no span.
 */
export const traceRequests: RequestHandler = (req, res, next) => {
  const { target, httpRoute } = res.locals;
  const active = context.active();
  const outer = trace.getSpanContext(active);
  // The span of an instrumentation of HTTP is in the client's trace already. A remote one is the client's own.
  const isInside = outer !== undefined && !outer.isRemote;
  const parent = isInside ? active : propagation.extract(active, req.headers);
  const kind = isInside ? SpanKind.INTERNAL : SpanKind.SERVER;
  const span = tracer.startSpan(`${req.method} ${httpRoute}`, { kind }, parent);
  res.locals.trace = traceRun;
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

/** Runs a part in a span. React Router's handlers resolve with an object that has the error, if there was one. */
const traceRun: Trace = (name, run) =>
  tracer.startActiveSpan(name, async (span) => {
    const result = await run();
    const { error } = result as { error?: Error };
    if (error) {
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
    return result;
  });
