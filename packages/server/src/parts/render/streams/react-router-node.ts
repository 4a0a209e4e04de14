import type { Readable, Writable } from "node:stream";
import * as original from "@react-router/node";

export * from "@react-router/node";

/**
 * Converts a stream like the function that it replaces: that one removes its listener when the body of a HEAD is
 * cancelled. If the file then can't be opened, its error would end the process (remix-run/react-router#15364).
 */
export function createReadableStreamFromReadable(source: Readable) {
  source.on("error", () => {});
  return original.createReadableStreamFromReadable(source);
}

/**
 * Writes a response body to the client, like the function of `@react-router/node` that it replaces: that one retains
 * memory for every chunk until the stream ends (remix-run/react-router#15247, fixed in 8.4.0). Rejects if the source
 * fails.
 */
export async function writeReadableStreamToWritable(
  stream: ReadableStream,
  writable: Writable & { locals?: Express.Locals },
) {
  const reader = stream.getReader();
  const locals: Pick<Express.Locals, "waitsForBody"> = writable.locals ?? {}; // Other streams have none.
  let resume = () => {};
  const onDrain = () => resume();
  /** The pending read ends, too. */
  const onClose = () => {
    resume();
    reader.cancel().catch(() => {});
  };
  writable.on("drain", onDrain).on("close", onClose);
  try {
    while (isOpen(writable)) {
      locals.waitsForBody = true;
      const { done, value } = await reader.read();
      locals.waitsForBody = false;
      if (!isOpen(writable)) break;
      if (done) return void writable.end();
      const isFull = !writable.write(value);
      // Otherwise the package compression would keep the events of a stream.
      if ("flush" in writable && typeof writable.flush === "function") writable.flush();
      if (isFull) await new Promise<void>((resolve) => (resume = resolve));
    }
    onClose(); // An ended or destroyed writable may not have closed yet, or have closed before.
  } catch (error) {
    locals.waitsForBody = false;
    reader.cancel().catch(() => {}); // A chunk that isn't bytes can't be written.
    writable.destroy(error as Error);
    throw error;
  } finally {
    writable.off("drain", onDrain).off("close", onClose);
  }
}

function isOpen(writable: Writable) {
  return !writable.destroyed && !writable.writableEnded;
}
