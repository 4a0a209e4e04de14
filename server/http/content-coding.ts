import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import Negotiator from "negotiator";

export type Coding = "br" | "gzip" | "identity";

/** Best first: where a client likes several equally, it gets the smallest. */
const CODINGS: Coding[] = ["br", "gzip", "identity"];

let lastAccepted: string | undefined;
let lastCoding: Coding = "identity";

/**
 * The content coding for an answer (RFC 9110 §12.5.3): identity where the client asks for nothing,
 * and also where it refuses everything, since an answer it can read beats a 406.
 */
export function chooseCoding(headers: IncomingHttpHeaders): Coding {
  const accepted = headers["accept-encoding"];
  if (accepted === lastAccepted) return lastCoding; // Most browsers say the same.
  // @ts-expect-error The published types know no options yet.
  const [best = "identity"]: string[] = new Negotiator({ headers }).encodings(CODINGS, { preferred: CODINGS });
  lastAccepted = accepted;
  lastCoding = best as Coding;
  return lastCoding;
}

/** The smallest br and gzip forms of some bytes: slow, so for what is compressed once. */
export async function compress(bytes: Buffer) {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { br, gzip: gz };
}
