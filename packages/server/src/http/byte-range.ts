import type { Request } from "express";

/** The bytes from `start` to `end`, both included. If `start` is the size of the file, the range is unsatisfiable. */
export type ByteRange = { start: number; end: number };

/** One range. For several ranges and for other units, the whole file is sent (RFC 9110 §14.2). */
const RANGE = /^bytes=(\d*)-(\d*)$/i;

/**
 * Finds the range of a file that a request asks for (RFC 9110 §14.1.2); undefined for the whole file. With If-Range,
 * the client has bytes of the file already, so its validator must be `validator` (§13.1.5). Not by range-parser:
 * version 1 rejects a suffix that is longer than the file, and version 2 needs Node 22.
 */
export function findRange({ method, headers }: Request, size: number, validator: string): ByteRange | undefined {
  const [, first = "", last = ""] = RANGE.exec(headers.range ?? "") ?? [];
  const ifRange = headers["if-range"];
  const isSameContent = ifRange === undefined || ifRange === validator;
  // An empty file has no range that Content-Range could name, so it is sent whole.
  if (method !== "GET" || !isSameContent || size === 0 || first + last === "") return undefined;
  if (first === "") return { start: Math.max(size - Number(last), 0), end: size - 1 };
  // A malformed range is ignored.
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return { start: Math.min(Number(first), size), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
