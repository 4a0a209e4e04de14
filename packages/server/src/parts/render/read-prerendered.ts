import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CODINGS, SUFFIXES } from "../../http/content-coding.ts";
import { type Bodies, mergeHeaders } from "../../http/stored-response.ts";
import type { PrerenderedFile, RouteEntry } from "../../locals.ts";
import { RELEASE_METRIC } from "../../pages/release.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";

/** Reads a response that the build has prerendered and compressed. */
export async function readPrerendered(
  { file, contentType, inline }: PrerenderedFile,
  { addedHeaders, cacheRule }: RouteEntry,
  securityHeaders: SecurityHeaders,
  release: string,
) {
  const codings = CODINGS.stored.filter((coding) => existsSync(file + SUFFIXES[coding]));
  const read = codings.map(async (coding) => [coding, await readFile(file + SUFFIXES[coding])] as const);
  const bodies = Object.fromEntries(await Promise.all(read)) as Bodies;
  return {
    status: 200,
    contentType,
    headers: mergeHeaders(securityHeaders.ofPage(addedHeaders, inline), Object.fromEntries(cacheRule?.headers ?? []), {
      "Server-Timing": `${RELEASE_METRIC};desc="${release}"`,
    }),
    body: bodies.identity,
    bodies,
    readsHeaders: false,
    uncacheableReason: undefined,
  };
}
