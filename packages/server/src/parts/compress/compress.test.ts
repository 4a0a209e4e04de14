import { type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transform } from "node:stream";
import { buffer } from "node:stream/consumers";
import zlib, { brotliDecompressSync, createGzip, gunzipSync } from "node:zlib"; // Node 20 has no zstd.
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { compression } from "./compress.ts";

const decode = { zstd: zlib.zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
type Coding = keyof typeof decode;
const CODINGS = (Object.keys(decode) as Coding[]).filter((coding) => decode[coding]);

/** Serves one handler behind the middleware. */
async function serve(handler: RequestHandler, maxEncoders = 10) {
  const errors: unknown[] = [];
  const app = express()
    .use(compression(maxEncoders, () => {}))
    .use(handler)
    .use(((error, _req, res, _next) => {
      errors.push(error);
      res.destroy();
    }) as ErrorRequestHandler);
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await vi.waitUntil(() => server.listening);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, errors };
}

const send = (url: string, coding = "identity", method = "GET") =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, agent: false, headers: { "Accept-Encoding": coding } };
    request(url, options, resolve).on("error", reject).end();
  });

async function fetchWhole(url: string, options?: { coding: string }) {
  const response = await send(url, options?.coding);
  const bytes = await buffer(response);
  const coding = response.headers["content-encoding"];
  return { coding, body: (decode[coding as Coding]?.(bytes) ?? bytes).toString("latin1") };
}

test.for([...CODINGS, "identity"])(
  "write and end take encodings and callbacks as Node's do, with %s",
  async (coding) => {
    const called: string[] = [];
    const { url } = await serve((_req, res) => {
      res.type("text/plain");
      res.write("é".repeat(1000), "latin1", () => called.push("with an encoding"));
      res.write("a".repeat(1000), () => called.push("without one"));
      setImmediate(() => res.end("62", "hex", () => called.push("end")));
    });
    const { body } = await fetchWhole(url, { coding });
    expect(body).toBe(`${"é".repeat(1000)}${"a".repeat(1000)}b`);
    await expect.poll(() => called).toEqual(["with an encoding", "without one", "end"]);
  },
);

test.for([
  ["a callback alone", (res: Response) => res.end(() => {}), ""],
  ["a chunk and a callback", (res: Response) => res.end("ab", () => {}), "ab"],
] as const)("end takes %s", async ([, end, body]) => {
  const finished = vi.fn();
  const { url } = await serve((_req, res) => void end(res.type("text/plain").on("finish", finished)));
  expect((await fetchWhole(url)).body).toBe(body);
  expect(finished).toHaveBeenCalledOnce();
});

test("a failing encoder ends the response, and passes on the error", async () => {
  const encoders: Transform = Object.getPrototypeOf(createGzip());
  vi.spyOn(encoders, "_transform").mockImplementationOnce((_chunk, _encoding, done) =>
    done(new Error("broken encoder")),
  );
  const { url, errors } = await serve((_req, res) => {
    res.type("text/plain");
    res.flushHeaders();
    res.write("This is a body without an end.\n");
  });
  const response = await send(url, "gzip");
  await expect(buffer(response)).rejects.toThrow("aborted");
  expect(errors).toEqual([new Error("broken encoder")]);
});

test("text in any encoding is compressed unchanged", async () => {
  const { url } = await serve((_req, res) => {
    res.type("text/plain");
    res.write("ä".repeat(1000));
    res.write("e4".repeat(1000), "hex");
    res.end("ä".repeat(1000), "latin1");
  });
  const { body, coding } = await fetchWhole(url, { coding: "br" });
  expect(coding).toBe("br");
  expect(body).toBe("Ã¤".repeat(1000) + "ä".repeat(2000));
});

test.for([
  ["a long text", "text/plain", 2000, {}, "br", undefined],
  ["a long text with an ETag", "text/plain", 2000, { ETag: '"a"' }, "br", 'W/"a"'],
  ["a short text", "text/plain", 1000, { ETag: '"a"' }, undefined, '"a"'],
  ["a picture", "image/png", 2000, { ETag: '"a"' }, undefined, '"a"'],
  ["an event stream", "text/event-stream", 2000, {}, undefined, undefined],
  ["text with no-transform", "text/plain", 2000, { "Cache-Control": "no-transform" }, undefined, undefined],
] as const)("%s has the right coding and ETag", async ([, type, bytes, set, coding, etag]) => {
  const { url } = await serve((_req, res) => {
    res.set({ "Content-Type": type, ...set }).write("a");
    res.end("a".repeat(bytes - 1));
  });
  const { headers } = (await send(url, "br")).resume();
  expect([headers["content-encoding"], headers.etag]).toEqual([coding, etag]);
});

test.for([
  ["with an encoder", "GET", 1, "br", "?1"],
  ["if all encoders are taken", "GET", 0, undefined, "?1"],
  ["to HEAD, which has no body", "HEAD", 1, undefined, undefined],
] as const)("a streamed page %s isn't buffered by proxies", async ([, method, maxEncoders, coding, incremental]) => {
  const { url } = await serve((_req, res) => {
    res.type("html").write("<h1>");
    setImmediate(() => setImmediate(() => res.end("</h1>")));
  }, maxEncoders);
  const { headers } = (await send(url, "br", method)).resume();
  expect([headers["content-encoding"], headers.incremental]).toEqual([coding, incremental]);
});
