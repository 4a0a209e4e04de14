import { type ServerResponse, STATUS_CODES } from "node:http";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** Ends a request that no page handles, with the status as plain text. */
export function reject(
  res: ServerResponse & { locals: Express.Locals },
  status: 400 | 405,
  headers: Record<string, string>,
) {
  const body = `${STATUS_CODES[status]}\n`;
  res
    .writeHead(status, {
      ...SECURITY_HEADERS,
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": body.length,
      "X-Request-Id": res.locals.requestId,
    })
    .end(body);
}
