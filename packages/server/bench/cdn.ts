// A model of a CDN. Each location is visited for each page about once a second, and requests the page from any process
// once its copy has expired, or was purged. No location asks another one, as without "tiered caching".
import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const VISIT_INTERVAL_MS = 1000;

type Copy = { path: string; tags: string[]; timer?: NodeJS.Timeout; isPurged?: boolean };

/** Starts a CDN of empty locations, and the server that purges are sent to. */
export async function startCdn(locations: number, paths: string[]) {
  const agent = new Agent({ keepAlive: true });
  const copies: Copy[] = paths.flatMap((path) => Array.from({ length: locations }, () => ({ path, tags: [] })));
  const counts = { requests: 0, failures: 0, purges: 0 };
  let origins: string[] = [];
  let keepsCopies = false;
  let hasVisitors = true;

  /** The next visitor after this time gets a new copy. */
  function expire(copy: Copy, ms: number) {
    clearTimeout(copy.timer);
    if (!hasVisitors) return;
    copy.timer = setTimeout(request, ms + Math.random() * VISIT_INTERVAL_MS, copy);
  }

  async function request(copy: Copy) {
    counts.requests += 1;
    copy.isPurged = false;
    const lifetime = await fetchCopy(copy).catch(() => undefined);
    if (!hasVisitors) return;
    if (lifetime === undefined) counts.failures += 1;
    if (lifetime === undefined || copy.isPurged) expire(copy, 0);
    else if (!keepsCopies) expire(copy, 1000 * lifetime);
  }

  /** Resolves with the time for which the copy is fresh, or undefined if the request fails. */
  async function fetchCopy(copy: Copy) {
    const origin = origins[Math.floor(Math.random() * origins.length)];
    const [response] = (await once(get(origin + copy.path, { agent }), "response")) as [IncomingMessage];
    await text(response);
    const { "cache-control": cacheControl = "", age = "0", "cache-tag": tags = "" } = response.headers;
    copy.tags = String(tags).split(",");
    const lifetime = Number(/s-maxage=(\d+)/.exec(cacheControl)?.[1]);
    return response.statusCode === 200 ? Math.max(0, lifetime - Number(age)) : undefined;
  }

  /** No visitor comes any more. */
  function leave() {
    hasVisitors = false;
    for (const { timer } of copies) clearTimeout(timer);
  }

  const api = createServer(async (req, res) => {
    counts.purges += 1;
    const purged = new Set((await text(req)).split(","));
    for (const copy of copies.filter(({ tags }) => tags.some((tag) => purged.has(tag)))) {
      copy.isPurged = true; // Also if it is on its way.
      expire(copy, 0);
    }
    res.end();
  });
  await once(api.listen(0, "127.0.0.1"), "listening");

  return {
    counts,
    purgeUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    /** Visitors come. The first visits of pages are spread evenly over this time. */
    open(urls: string[], spreadMs: number) {
      origins = urls;
      for (const copy of copies) expire(copy, (spreadMs * paths.indexOf(copy.path)) / paths.length);
    },
    /** From now on, copies only expire if they are purged. */
    keepCopies() {
      keepsCopies = true;
      for (const { timer } of copies) clearTimeout(timer);
    },
    leave,
    close() {
      leave();
      api.close();
      api.closeAllConnections();
      agent.destroy();
    },
  };
}
