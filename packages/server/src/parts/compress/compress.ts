import type { Request, RequestHandler, Response } from "express";
import onHeaders from "on-headers";
import {
  CODINGS,
  compressOnce,
  createEncoder,
  isCompressible,
  isEventStream,
  MAX_AT_ONCE_BYTES,
  negotiateContentCoding,
} from "../../http/content-coding.ts";
import type { MeasureUsage } from "../../overload/index.ts";

/** A shorter body takes one packet, compressed or not. */
const MIN_BYTES = 1024;
const NO_TRANSFORM = /\bno-transform\b/i;

/** Compresses rendered responses. A body that is complete in one turn of the event loop is sent with its length. */
export function compression(maxEncoders: number, measureUsage: MeasureUsage): RequestHandler {
  let encoders = 0;
  measureUsage("MAX_ENCODERS", () => encoders);

  /** Chooses a coding, and sets the headers. */
  function beginEncoding(req: Request, res: Response, length?: number) {
    const coding = chooseCoding(req, res, length);
    // Without an encoder, a response is sent as it is.
    if (coding === "identity" || encoders >= maxEncoders || res.destroyed) return undefined;
    const etag = res.get("ETag");
    if (etag?.startsWith('"')) res.set("ETag", `W/${etag}`); // RFC 9110 §8.8.1
    for (const name of ["Content-Length", "Accept-Ranges"]) res.removeHeader(name);
    // HEAD can leave out headers that depend on the content (RFC 9110 §9.3.2).
    if (req.method === "HEAD") return undefined;
    res.set("Content-Encoding", coding);
    return coding;
  }

  return (req, res, next) => {
    const [write, end, emit] = [res.write.bind(res), res.end.bind(res), res.emit.bind(res)];
    const held: Uint8Array[] = [];
    let heldBytes = 0;
    let sending: NodeJS.Immediate | undefined;
    let isWhole = false;
    let encoder: ReturnType<typeof createEncoder> | undefined;

    onHeaders(res, () => {
      // `Incremental` (RFC 10036) and nginx's header ask proxies not to buffer the first HTML.
      const isStreamed = !isWhole && req.method !== "HEAD" && !res.hasHeader("Content-Length");
      if (isStreamed) res.set({ Incremental: "?1", "X-Accel-Buffering": "no" });
      const coding = isWhole ? undefined : beginEncoding(req, res);
      if (!coding) return;
      encoders += 1;
      encoder = createEncoder(coding).once("close", () => {
        encoders -= 1;
      });
      encoder.on("data", (bytes) => write(bytes) || encoder?.pause());
      encoder.on("end", () => end());
      encoder.on("error", next);
      encoder.on("drain", () => emit("drain"));
      // Backpressure: the encoder waits for the connection, and the page for the encoder.
      const resume = () => encoder?.resume();
      Object.assign(res, { emit: (...args: [string]) => (args[0] === "drain" ? resume() : emit(...args)) });
    });
    res.once("close", () => {
      clearImmediate(sending);
      encoder?.destroy();
    });

    function send(isLast: boolean) {
      clearImmediate(sending);
      sending = undefined;
      const bytes = Buffer.concat(held.splice(0));
      heldBytes = 0;
      const canBeWhole = !res.headersSent && req.method !== "HEAD" && bytes.length < MAX_AT_ONCE_BYTES;
      if (isLast && canBeWhole) return sendWhole(bytes);
      if (bytes.length > 0 && !res.headersSent) res.writeHead(res.statusCode);
      const target = encoder ?? { write, end };
      if (isLast) target.end(bytes);
      else if (target.write(bytes)) emit("drain");
    }

    /** Sends head and body in one write, so that a short response is complete even if the process ends. */
    function sendWhole(bytes: Buffer) {
      isWhole = true;
      const coding = beginEncoding(req, res, bytes.length);
      const body = coding ? compressOnce(bytes, coding) : bytes;
      if (body.length > 0) res.set("Content-Length", String(body.length));
      end(body);
    }

    type Callback = (error?: Error | null) => void;
    Object.assign(res, {
      /** Sends together what is written in one turn of the event loop. Most pages are complete by then. */
      write(chunk: string | Uint8Array, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
        if (typeof encoding === "function") return this.write(chunk, undefined, encoding);
        // As Node does. Later, the error would end the process.
        if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) throw new TypeError("a chunk isn't bytes");
        const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk;
        held.push(bytes);
        heldBytes += bytes.length;
        sending ??= setImmediate(send, false);
        if (callback) setImmediate(callback); // Runs after `send`.
        return heldBytes < res.writableHighWaterMark && !(encoder ?? res).writableNeedDrain;
      },
      end(chunk?: string | Uint8Array | Callback, encoding?: BufferEncoding | Callback, callback?: Callback): Response {
        if (typeof chunk === "function") return this.end(undefined, undefined, chunk);
        if (typeof encoding === "function") return this.end(chunk, undefined, encoding);
        if (callback) res.once("finish", callback);
        if (chunk) this.write(chunk, encoding);
        send(true);
        return res;
      },
    });
    next();
  };
}

/** Sets `Vary`, and chooses the coding. */
function chooseCoding(req: Request, res: Response, length = Number(res.get("Content-Length") ?? Infinity)) {
  const type = res.get("Content-Type") ?? "";
  if (isEventStream(res)) return "identity"; // Events are short, and each stream would hold an encoder.
  // A 304 has no type, but it needs `Vary`, too.
  if (!isCompressible(type) && res.statusCode !== 304) return "identity";
  res.vary("Accept-Encoding");
  const isFinal = [204, 206, 304].includes(res.statusCode) || res.hasHeader("Content-Encoding");
  if (length < MIN_BYTES || isFinal || NO_TRANSFORM.test(res.get("Cache-Control") ?? "")) return "identity";
  return negotiateContentCoding(req.headers, CODINGS.rendered);
}
