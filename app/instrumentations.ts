import type { RouterContextProvider, ServerInstrumentation } from "react-router";
import { tracing } from "../server/tracing/tracing";
import { type RenderPart, renderContext } from "./context";

type Handle = () => Promise<unknown>;
type Info = { context: Pick<RouterContextProvider, "get"> };

/** Records how long a part of a response takes. */
const measure =
  (part: RenderPart) =>
  async (handle: Handle, { context }: Info) => {
    const { record, running } = context.get(renderContext);
    const startedAt = performance.now();
    const ended = handle();
    running?.add(ended);
    await ended;
    running?.delete(ended);
    record(part, (performance.now() - startedAt) / 1000);
  };

export const instrumentations: ServerInstrumentation[] = [
  { route: ({ instrument }) => instrument({ loader: measure("loader"), action: measure("action") }) },
  tracing.instrumentation,
];

export const measureRender = measure("render");
