import { createReadStream } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as original from "@react-router/node";
import { expect, test, vi } from "vitest";
import * as own from "./react-router-node.ts";

const CHUNK = new Uint8Array(100);
const WARM_UP = 1000;
/** So many that the memory of the test runner itself counts little. */
const MEASURED = 20_000;
const MINUTE = { timeout: 60_000 };
const { writeReadableStreamToWritable: write } = own;

/** Waits for the event loop. Without backpressure, a loop of promises would block the test. */
async function sendChunk(controller: ReadableStreamDefaultController) {
  await setImmediate();
  controller.enqueue(CHUNK);
}

test("the client gets all chunks in order", async () => {
  const writable = new PassThrough({ highWaterMark: 1 });
  const stream = new Blob(["a", "b", "c"]).stream();
  expect(await Promise.all([text(writable), write(stream, writable)])).toEqual(["abc", undefined]);
});

test("the source waits for a client that doesn't read", async () => {
  const pull = vi.fn(sendChunk);
  const writable = new PassThrough({ highWaterMark: 500 });
  const written = write(new ReadableStream({ pull }), writable);
  await expect.poll(() => writable.writableNeedDrain).toBe(true);
  const pulled = pull.mock.calls.length;
  await setTimeout(50);
  // The stream itself asks for one more.
  expect(pull.mock.calls.length).toBeLessThanOrEqual(pulled + 1);

  writable.resume();
  await expect.poll(() => pull.mock.calls.length).toBeGreaterThan(2 * pulled);
  writable.destroy();
  await written;
});

test.for([
  ["the source is slow", () => {}],
  ["the client is slow", sendChunk],
] as const)("the source is cancelled if the client leaves while %s", async ([, pull]) => {
  const cancel = vi.fn();
  const writable = new PassThrough({ highWaterMark: 1 });
  const written = write(new ReadableStream({ pull, cancel }), writable);
  await setTimeout(20);
  expect(cancel).not.toHaveBeenCalled();
  writable.destroy();
  await written;
  expect(cancel).toHaveBeenCalledOnce();
  expect([writable.listenerCount("drain"), writable.listenerCount("close")]).toEqual([0, 0]);
});

test("the source is cancelled if the client left before", async () => {
  const cancel = vi.fn();
  await write(new ReadableStream({ cancel }), new PassThrough().destroy());
  expect(cancel).toHaveBeenCalledOnce();
});

test("the source is cancelled if the response has ended otherwise", async () => {
  const cancel = vi.fn();
  const writable = new PassThrough();
  const pull = (controller: ReadableStreamDefaultController) => {
    writable.end();
    controller.enqueue(CHUNK);
  };
  await write(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), writable);
  expect(cancel).toHaveBeenCalledOnce();
});

test("the source is cancelled if writing fails", async () => {
  const cancel = vi.fn();
  const error = new Error("write failed");
  const writable = new Writable({ write: (_chunk, _encoding, callback) => callback(error) });
  writable.on("error", () => {});
  await write(new ReadableStream({ start: (controller) => controller.enqueue(CHUNK), cancel }), writable);
  expect(cancel).toHaveBeenCalledOnce();
});

test("a source that fails destroys the response with its error", async () => {
  const error = new Error("source failed");
  const writable = new PassThrough().on("error", () => {});
  await expect(write(new ReadableStream({ pull: () => Promise.reject(error) }), writable)).rejects.toBe(error);
  expect(writable.errored).toBe(error);
});

/** Returns the bytes of the heap that each written chunk still takes before the stream ends. */
async function measureRetained({ writeReadableStreamToWritable: write }: typeof original) {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  let written = 0;
  let before = Number.NaN;
  let retained = Number.NaN;
  const pull = (controller: ReadableStreamDefaultController) => {
    if (written === WARM_UP || written === WARM_UP + MEASURED) gc();
    if (written === WARM_UP) before = process.memoryUsage().heapUsed;
    if (written++ < WARM_UP + MEASURED) return controller.enqueue(new Uint8Array(100));
    retained = (process.memoryUsage().heapUsed - before) / MEASURED;
    controller.close();
  };
  const writable = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  await write(new ReadableStream({ pull }), writable);
  return retained;
}

test("written chunks don't stay in memory", MINUTE, async () => {
  expect(await measureRetained(own)).toBeLessThan(50);
});

// About 550 bytes, or 260 with Node 26, which frees the chunks themselves (nodejs/node#64101).
test(
  "React Router's own function retains memory for each chunk: if this fails, delete src/render/streams/",
  MINUTE,
  async () => {
    expect(await measureRetained(original)).toBeGreaterThan(150);
  },
);

test("a chunk that isn't bytes destroys the response, and cancels the source", async () => {
  const cancel = vi.fn();
  const writable = new PassThrough().on("error", () => {});
  const source = new ReadableStream({ start: (controller) => controller.enqueue({}), cancel });
  await expect(write(source, writable)).rejects.toThrow(TypeError);
  expect(cancel).toHaveBeenCalledOnce();
  expect(writable.destroyed).toBe(true);
});

/** Cancels a stream of a file that doesn't exist, before it is opened. Returns the number of listeners for its error. */
function cancelMissing({ createReadableStreamFromReadable: convert }: typeof own | typeof original) {
  const file = createReadStream("missing");
  convert(file).cancel();
  const listeners = file.listenerCount("error");
  file.on("error", () => {});
  return listeners;
}

test("a file that can't be opened after its stream was cancelled doesn't end the process", () => {
  expect(cancelMissing(own)).toBe(1);
});

test("React Router's own function leaves its error uncaught: if this fails, delete the one in src/parts/render/streams/", () => {
  expect(cancelMissing(original)).toBe(0);
});
