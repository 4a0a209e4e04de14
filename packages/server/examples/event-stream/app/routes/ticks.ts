import { setInterval } from "node:timers/promises";
import { signalContext } from "react-router-express-server/app";
import type { Route } from "./+types/ticks";

/** Yours. Sends the time each second, until the client disconnects or the server shuts down. */
async function* tick(signal: AbortSignal) {
  try {
    yield format(new Date());
    for await (const _ of setInterval(1000, undefined, { signal })) yield format(new Date());
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A server-sent event: a line of data, and an empty line. */
const format = (time: Date) => `data: ${time.toISOString()}\n\n`;

export function loader({ context }: Route.LoaderArgs) {
  // @ts-expect-error The DOM's types lack it.
  const body = ReadableStream.from(tick(context.get(signalContext))).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}
