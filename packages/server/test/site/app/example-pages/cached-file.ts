import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createReadableStreamFromReadable } from "@react-router/node";
import type { Route } from "./+types/cached-file";

const ICON = "client/icon.svg";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": "public, max-age=0, s-maxage=1" });

/** A cached file: it is sent, isn't cacheable, fails or hangs. */
export async function loader({ params: { outcome } }: Route.LoaderArgs) {
  const headers = outcome === "cookie" ? { "Set-Cookie": "a=b" } : undefined;
  const status = outcome === "fails" ? 500 : 200;
  if (outcome === "hangs") return new Response(await createHangingStream());
  return new Response(createReadableStreamFromReadable(createReadStream(ICON)), { status, headers });
}

async function createHangingStream() {
  const file = await open(ICON);
  return new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => file.close() });
}
