import { SpanStatusCode, trace } from "@opentelemetry/api";
import type { RouterContextProvider, ServerInstrumentation } from "react-router";
import { type RenderPart, renderContext } from "./context";

/** Without OpenTelemetry's SDK in the process, its spans do nothing (docs/operating.md). */
const tracer = trace.getTracer("react-router");

type Record = (part: RenderPart, seconds: number) => void;

/** Times a part of a response, as a metric and a span. `run` resolves with the part's error, if it has one. */
export function measure(part: RenderPart, record: Record, run: () => Promise<Error | undefined>, name: string = part) {
  return tracer.startActiveSpan(name, async (span) => {
    const startedAt = performance.now();
    const error = await run();
    record(part, (performance.now() - startedAt) / 1000);
    if (error) {
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  });
}

type Handle = () => Promise<{ error: Error | undefined }>;
type Info = { context: Pick<RouterContextProvider, "get"> };

export const instrumentations: ServerInstrumentation[] = [
  {
    route({ id, instrument }) {
      const time =
        (part: RenderPart) =>
        (handle: Handle, { context }: Info) =>
          measure(part, context.get(renderContext).record, async () => (await handle()).error, `${part} ${id}`);
      instrument({ loader: time("loader"), action: time("action") });
    },
  },
];
