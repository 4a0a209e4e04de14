import type { ServerResponse } from "node:http";
import onHeaders from "on-headers";

/**
 * Has headers sent of which the route says nothing itself. They are set when the head is written, because React Router's
 * adapter adds to a header that is there already.
 */
export function setDefaultHeaders(res: ServerResponse, headers: Record<string, string>) {
  onHeaders(res, () => {
    for (const [name, value] of Object.entries(headers)) if (!res.hasHeader(name)) res.setHeader(name, value);
  });
}
