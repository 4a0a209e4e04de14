import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { promisify } from "node:util";
import zlib, {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from "node:zlib"; // Node 20 has no zstd to import.
import Negotiator from "negotiator";

/** The content codings, best first: a client that accepts several equally gets the first. */
export const CODINGS = {
  /** Of responses that are compressed once and sent often: the smallest first. */
  stored: ["br", "gzip", "identity"],
  /**
   * Of responses that are compressed for one client: the fastest first. For 60 KB of text, zstd takes 0.1 ms, brotli
   * 0.5 ms and gzip 0.7 ms, and zstd's result is 4 % larger than brotli's. zstd needs Node 22.15.
   */
  rendered: ["zstd", "br", "gzip", "identity"].filter((coding) => coding !== "zstd" || "zstdCompress" in zlib),
} as { stored: StoredCoding[]; rendered: RenderedCoding[] };

export type StoredCoding = "br" | "gzip" | "identity";
export type RenderedCoding = "zstd" | StoredCoding;

/** The suffix of a file's variant in each content coding. */
export const SUFFIXES = { br: ".br", gzip: ".gz", identity: "" };
export const VARIANT_SUFFIX = /\.(br|gz)$/;

const COMPRESSIBLE_TYPE = /^(text\/|application\/(json|javascript|xml)\b|[^;]+\+(json|xml)\b)/i;

/** Whether a media type is text. */
export function isCompressible(contentType: string) {
  return COMPRESSIBLE_TYPE.test(contentType);
}

const EVENT_STREAM = /^text\/event-stream\b/i;

/** Whether a response is an event stream, by its Content-Type. */
export function isEventStream(res: ServerResponse) {
  return EVENT_STREAM.test(res.getHeader("Content-Type")?.toString() ?? "");
}

/** The longest Accept-Encoding that is read. Parsing 16 KB takes milliseconds; browsers send 30 characters. */
const MAX_ACCEPT_LENGTH = 256;

/**
 * Chooses the content coding of a response from those of `CODINGS` (RFC 9110 §12.5.3). If the client sends no
 * Accept-Encoding, or accepts none of them, it is identity: a response is of more use than a 406.
 */
export function negotiateContentCoding<Coding extends string>(headers: IncomingHttpHeaders, codings: Coding[]) {
  const { "accept-encoding": accepted = "" } = headers;
  if (accepted.length > MAX_ACCEPT_LENGTH) return "identity";
  // @ts-expect-error The published types lack the options.
  const [best]: Coding[] = new Negotiator({ headers }).encodings(codings, { preferred: codings });
  return best ?? "identity";
}

const LEVELS = {
  fast: { br: 5, gzip: 6 },
  best: { br: constants.BROTLI_MAX_QUALITY, gzip: constants.Z_BEST_COMPRESSION },
};

/**
 * A larger body is compressed in another thread. To hand it over takes about 0.1 ms of CPU time, as long as zstd takes
 * for 60 KB. The slowest, gzip, takes 6 ms for the largest.
 */
export const MAX_AT_ONCE_BYTES = 512 * 1024;

/** The br and gzip variants of some bytes, if they are smaller. "best" takes some ms per KB, in another thread. */
export async function compress(bytes: Buffer, effort: keyof typeof LEVELS) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: LEVELS[effort].br,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_LGWIN]: findWindow(bytes.length),
  };
  const level = LEVELS[effort].gzip;
  const isAtOnce = effort === "fast" && bytes.length < MAX_AT_ONCE_BYTES;
  // One after the other, since each encoder takes memory.
  const br = isAtOnce ? brotliCompressSync(bytes, { params }) : await promisify(brotliCompress)(bytes, { params });
  const gz = isAtOnce ? gzipSync(bytes, { level }) : await promisify(gzip)(bytes, { level });
  return { ...(br.length < bytes.length && { br }), ...(gz.length < bytes.length && { gzip: gz }) };
}

/** The binary logarithm of brotli's window: not larger than the content, since it takes memory. */
function findWindow(length: number) {
  const { BROTLI_MIN_WINDOW_BITS, BROTLI_DEFAULT_WINDOW } = constants;
  return Math.min(Math.max(Math.ceil(Math.log2(length + 1)), BROTLI_MIN_WINDOW_BITS), BROTLI_DEFAULT_WINDOW);
}

/**
 * How rendered responses are compressed. A window of more than 128 or 256 KB takes more memory, and few pages are
 * larger. Smaller tables halve the memory of zstd, and take no more bytes. An encoder of zstd takes 0.6 MiB, of brotli
 * 1.1 MiB.
 */
const ENCODINGS = {
  zstd: {
    compress: zlib.zstdCompressSync,
    create: zlib.createZstdCompress,
    flush: constants.ZSTD_e_flush,
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      [constants.ZSTD_c_windowLog]: 17,
      [constants.ZSTD_c_hashLog]: 15,
      [constants.ZSTD_c_chainLog]: 14,
    },
  },
  br: {
    compress: brotliCompressSync,
    create: createBrotliCompress,
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
  },
  gzip: { compress: gzipSync, create: createGzip, flush: constants.Z_SYNC_FLUSH, params: {} },
};

type Encoding = keyof typeof ENCODINGS;

/** Compresses a body of less than MAX_AT_ONCE_BYTES. */
export function compressOnce(bytes: Buffer, coding: Encoding) {
  const { compress, params } = ENCODINGS[coding];
  return compress(bytes, { params });
}

/** Compresses a stream in another thread. Each write is flushed, so that the client can read it at once. */
export function createEncoder(coding: Encoding) {
  const { create, flush, params } = ENCODINGS[coding];
  return create({ flush, params });
}
