import { STATUS_CODES } from "node:http";
import type { Response } from "./chain.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** Ends a request that no page handles, with the status as plain text. */
export function reject(res: Response, status: 400 | 405, headers: Record<string, string>) {
  const body = `${STATUS_CODES[status]}\n`;
  const type = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length };
  const id = { "X-Request-Id": res.locals.requestId };
  res.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...type, ...id, "Cache-Control": "no-store" }).end(body);
}
