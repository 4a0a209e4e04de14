import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { createReadableStreamFromReadable } from "@react-router/node";
import type { Route } from "./+types/file";

const FILM = "client/film.mp4";

/** The ways to stream a file. */
const STREAMS: Record<string, (path: string) => Promise<ReadableStream>> = {
  "react-router": async (path) => createReadableStreamFromReadable(createReadStream(path)),
  node: async (path) => Readable.toWeb(createReadStream(path)) as ReadableStream,
  own: streamOwn,
};

/** The first sends another response than the second one or the loader, or none. */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ params: { outcome } }, next) => {
    const response = await next();
    if (outcome?.endsWith("not-modified")) return new Response(null, { status: 304 });
    if (outcome?.endsWith("fails-later")) throw new Error("broken after the loader");
    return response;
  },
  async ({ params: { way, outcome } }, next) => {
    const stream = STREAMS[way];
    return stream && outcome?.startsWith("middleware-") ? new Response(await stream(FILM)) : next();
  },
];

/** Streams a file: at once, after a while, with an error in the middle, as objects, thrown, or one that doesn't exist. */
export async function loader({ params: { way, outcome } }: Route.LoaderArgs) {
  const stream = STREAMS[way];
  if (!stream) throw new Response(null, { status: 404 });
  const body = await stream(outcome === "missing" ? "missing" : FILM);
  if (outcome === "waits") await setTimeout(100);
  if (outcome === "thrown") throw new Response(body);
  if (outcome === "fails") return new Response(body.pipeThrough(createFailingTransform()));
  if (outcome === "objects") return new Response(body.pipeThrough(createObjectTransform()));
  return new Response(body);
}

async function streamOwn(path: string) {
  const file = await open(path);
  return new ReadableStream({
    async pull(controller) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(64 * 1024));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      controller.close();
      await file.close();
    },
    cancel: () => file.close(),
  });
}

function createFailingTransform() {
  let chunks = 0;
  return new TransformStream({
    transform(chunk, controller) {
      chunks += 1;
      if (chunks > 3) throw new Error("broken in the middle");
      controller.enqueue(chunk);
    },
  });
}

const createObjectTransform = () => new TransformStream({ transform: (_chunk, controller) => controller.enqueue({}) });
