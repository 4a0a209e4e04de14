import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { validate } from "dockerfile-utils";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { beforeEach, expect, test } from "vitest";
import { recordMetric } from "./support/record-metric.ts";
import { SITE } from "./support/site.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";

// Registered before the application is loaded, as in image/Dockerfile.
const exporter = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
const { app, registry } = await loadApp({ folder: SITE });
const parts = recordMetric(registry, "react_router_duration_seconds", ({ part, http_route }, seconds) => [
  part,
  http_route,
  seconds,
]);

beforeEach(() => {
  exporter.reset();
  parts.splice(0);
});

/** The request's span, and the names of its child spans. */
async function readSpans() {
  await expect.poll(() => exporter.getFinishedSpans().some(({ kind }) => kind === SpanKind.SERVER)).toBe(true);
  const spans = exporter.getFinishedSpans();
  const server = spans.find(({ kind }) => kind === SpanKind.SERVER);
  const isInside = ({ parentSpanContext }: (typeof spans)[0]) =>
    parentSpanContext?.spanId === server?.spanContext().spanId;
  return { server, inside: spans.filter(isInside).map(({ name, status }) => ({ name, failed: status.code > 1 })) };
}

test.each([
  ["GET", "/example-pages/notes/1", 200, "/example-pages/notes/:id", ["loader", "render"]],
  ["GET", "/example-pages/notes/1.data", 200, "/example-pages/notes/:id", ["loader"]],
  ["POST", "/example-pages/sign-up", 400, "/example-pages/sign-up", ["action", "render"]],
])("%s %s has a span in the client's trace, with a child per part", async (method, path, status, route, expected) => {
  const sent = request(app)[method === "GET" ? "get" : "post"](path).set("traceparent", `00-${TRACE_ID}-${SPAN_ID}-01`);
  await (method === "GET" ? sent : sent.type("form").send({ email: "" })).expect(status);
  const { server, inside } = await readSpans();
  expect(server).toMatchObject({
    name: `${method} ${route}`,
    attributes: {
      "http.request.method": method,
      "http.response.status_code": status,
      "http.route": route,
      "url.path": path,
    },
    parentSpanContext: { traceId: TRACE_ID, spanId: SPAN_ID },
    status: { code: SpanStatusCode.UNSET },
  });
  expect(inside.map(({ name }) => name.split(" ")[0]).sort()).toEqual(expected);
  expect(parts.map(([part]) => part).sort()).toEqual(expected);
  for (const [, measured, seconds] of parts) expect([measured, seconds]).toEqual([route, expect.any(Number)]);
});

test("inside the span of an instrumentation of HTTP, the request's span is its child", async () => {
  const instrumented: RequestListener = (req, res) => {
    const client = propagation.extract(context.active(), req.headers);
    const outer = trace.getTracer("instrumentation").startSpan("GET", { kind: SpanKind.SERVER }, client);
    res.once("close", () => outer.end());
    context.with(trace.setSpan(client, outer), app, undefined, req, res);
  };
  const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
  await request(instrumented).get("/example-pages/notes/1").set("traceparent", traceparent).expect(200);
  const { server, inside } = await readSpans();
  expect(server).toMatchObject({ name: "GET", parentSpanContext: { traceId: TRACE_ID, spanId: SPAN_ID } });
  expect(inside).toEqual([{ name: "GET /example-pages/notes/:id", failed: false }]);
});

test("if a loader throws, its span and the request's span have failed", async () => {
  await request(app).get("/example-pages/broken/loader").expect(500);
  const { server, inside } = await readSpans();
  expect(server?.status.code).toBe(SpanStatusCode.ERROR);
  expect(inside).toContainEqual({ name: expect.stringContaining("loader "), failed: true });
});

test("a response from memory has no span", async () => {
  for (const path of ["/", "/nowhere", "/icon.svg"]) await request(app).get(path);
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test("the image with the SDK installs from a lockfile that names no registry", () => {
  const folder = fileURLToPath(new URL("../docs/tracing/image", import.meta.url));
  const dockerfile = readFileSync(`${folder}/Dockerfile`, "utf8");
  expect(validate(dockerfile)).toEqual([]);
  expect(dockerfile.match(/npm (ci|i|install|add)\b/g)).toEqual(["npm ci"]);
  expect(readFileSync(`${folder}/package-lock.json`, "utf8")).not.toContain('"resolved"');
});
