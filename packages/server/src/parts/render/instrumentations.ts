import type { RouterContextProvider, ServerInstrumentation } from "react-router";
import type { MeasuredPart, RenderPart } from "../../pages/context.ts";
import { findRender } from "./find-render.ts";

type Handle<Result> = () => Promise<Result>;
type Info = { context: Pick<RouterContextProvider, "get"> };

/** Runs a part of a response: records how long it takes, and traces it. */
export async function measure<Result>(part: RenderPart, id: string, handle: Handle<Result>, { context }: Info) {
  const { parts, record, running, trace } = findRender(context);
  const measured: MeasuredPart = { name: `${part} ${id}`.trim(), startedAt: performance.now() };
  parts?.push(measured);
  const ended = trace ? trace(measured.name, handle) : handle();
  running?.add(ended);
  const result = await ended;
  running?.delete(ended);
  measured.endedAt = performance.now();
  // React Router's handlers resolve with an object that has the error, if there was one.
  measured.error = Object(result).error;
  record(part, (measured.endedAt - measured.startedAt) / 1000);
}

/** For the export of `entry.server.tsx` with this name. */
export const instrumentations: ServerInstrumentation[] = [
  {
    route: ({ id, instrument }) =>
      instrument({
        loader: (handle, info) => measure("loader", id, handle, info),
        action: (handle, info) => measure("action", id, handle, info),
      }),
  },
];
