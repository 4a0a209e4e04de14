// Each function returns the `purge` of `openServices` for a cache in front (docs/caching.md).
import type { Purge } from "../edge.ts";

const TIMEOUT_MS = 8000;
/** https://developers.cloudflare.com/cache/how-to/purge-cache/#availability-and-limits */
const CLOUDFLARE_TAGS = 100;
/** https://www.fastly.com/documentation/reference/api/purging/#bulk-purge-tag */
const FASTLY_KEYS = 256;
/** Varnish accepts headers of 8 KB. */
const VARNISH_TAGS = 50;

type ServiceOptions = { token: string };
type UrlOptions = {
  /** Of each cache, such as `http://10.0.0.21:6081`. Without a slash at the end. */
  urls: string[];
};

/** For Cloudflare. `zone` is the zone's id, and `token` has the permission Cache Purge. */
export function createCloudflarePurge({ zone, token }: ServiceOptions & { zone: string }): Purge {
  const url = `https://api.cloudflare.com/client/v4/zones/${zone}/purge_cache`;
  return {
    toHeaders: (tags) => ({ "Cache-Tag": tags.join(",") }),
    maxTags: CLOUDFLARE_TAGS,
    send: ({ tags }) => post(url, { Authorization: `Bearer ${token}` }, { tags }),
  };
}

/** For Fastly. `service` is the service's id, and `token` has the scope purge_select. */
export function createFastlyPurge({ service, token }: ServiceOptions & { service: string }): Purge {
  const url = `https://api.fastly.com/service/${service}/purge`;
  return {
    toHeaders: (tags) => ({ "Surrogate-Key": tags.join(" ") }),
    maxTags: FASTLY_KEYS,
    send: ({ tags }) => post(url, { "Fastly-Key": token }, { surrogate_keys: tags }),
  };
}

/** For Varnish with the template's `deploy/varnish.vcl`. */
export function createVarnishPurge({ urls }: UrlOptions): Purge {
  return {
    toHeaders: (tags) => ({ xkey: tags.join(" ") }),
    send: ({ tags }) =>
      Promise.all(
        urls.flatMap((url) =>
          split(tags, VARNISH_TAGS).map((part) => request(url, { method: "BAN", headers: { xkey: part.join(" ") } })),
        ),
      ),
  };
}

/**
 * For nginx with `proxy_cache_bypass` (docs/caching.md), which requests a path again and replaces its copy. nginx has no
 * tags, so groups and prefixes are not purged.
 */
export function createNginxPurge({ urls }: UrlOptions): Purge {
  return {
    send: ({ paths }) =>
      Promise.all(
        urls.flatMap((url) =>
          paths.flatMap(listUrls).map((path) => request(url + path, { headers: { "X-Purge": "1" } }, isReplaced)),
        ),
      ),
  };
}

/** Any status of a page, such as 404, but for those of errors. */
const isReplaced = ({ status }: Response) => status < 500;

/** A page and its data. */
const listUrls = (path: string) => [path, path.endsWith("/") ? `${path}_root.data` : `${path}.data`];

function split<Item>(items: Item[], size: number) {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

const post = (url: string, headers: Record<string, string>, body: object) =>
  request(url, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

async function request(url: string, init: RequestInit, isAccepted = ({ ok }: Response) => ok) {
  const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await response.text();
  if (isAccepted(response)) return;
  const error = new Error(`${init.method ?? "GET"} ${url} has status ${response.status}: ${text.slice(0, 200)}`);
  const retryAfterSeconds = parseRetryAfter(response.headers.get("Retry-After") ?? "");
  throw Object.assign(error, { retryAfterSeconds });
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function parseRetryAfter(value: string) {
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, (date - Date.now()) / 1000);
}
