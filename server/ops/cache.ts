import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** The functions of the page cache that the operators' port uses. */
export type CacheControls = {
  entries: { describe: () => object[] };
  invalidate: (groups: string[], paths: string[]) => Promise<number>;
};

/**
 * Whether a request may read or change the cache. A page of another site could send one from an operator's browser, or its
 * host name could resolve to this address (DNS rebinding). So the host must be an address, localhost or OPS_HOST.
 */
export function isFromOperator({ headers }: IncomingMessage, host: string | undefined) {
  const name = headers.host?.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1") ?? "";
  const isKnownHost = isIP(name) > 0 || name === "localhost" || name === host;
  const site = headers["sec-fetch-site"] ?? "none";
  return isKnownHost && headers.origin === undefined && ["none", "same-origin"].includes(site);
}

/** Invalidates the query's groups and paths. Resolves with the number of entries, or undefined if it names nothing. */
export async function purge({ invalidate }: CacheControls, query: URLSearchParams) {
  const [groups, paths] = [query.getAll("group"), query.getAll("path")];
  return groups.length + paths.length === 0 ? undefined : invalidate(groups, paths);
}
