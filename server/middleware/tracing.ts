import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { RequestHandler } from "express";

const tracer = trace.getTracer("http");

/**
 * Starts a span for each request that React Router responds to, in the client's trace (`traceparent`), by OpenTelemetry's
 * HTTP conventions. Without the SDK in the process, it does nothing.
 */
export const tracing: RequestHandler = (req, res, next) => {
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
