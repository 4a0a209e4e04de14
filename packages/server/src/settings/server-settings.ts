import { isIP } from "node:net";
import proxyaddr from "proxy-addr";
import * as v from "valibot";

const wholeNumber = (max: number, min = 0) => {
  const allowed = `a whole number from ${min} to ${max}`;
  const isAllowed = (digits: string) => /^\d{1,16}$/.test(digits) && Number(digits) >= min && Number(digits) <= max;
  return v.pipe(v.string(), v.check(isAllowed, allowed), v.transform(Number));
};
const port = wholeNumber(65_535);
const MAX_MILLISECONDS = 3_600_000;
const milliseconds = wholeNumber(MAX_MILLISECONDS);
const count = wholeNumber(1_000_000, 1);
/** At most 1 TiB. */
const bytes = wholeNumber(2 ** 40);
/** In bytes. Less than 1,000 is a typing error, such as 8 for 8 MB. */
const memory = wholeNumber(2 ** 40, 1000);

const HOST_NAME = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;
const isAddress = (value: string) => isIP(value) > 0 || HOST_NAME.test(value);
const host = v.pipe(v.string(), v.check(isAddress, "an IP address or a host name"));

const isOrigin = (value: string) => /^https?:\/\/[^/?#@*]+$/i.test(value) && URL.canParse(value);
const ORIGIN = "an origin, like https://www.example.org";
const origin = v.pipe(
  v.string(),
  v.check(isOrigin, ORIGIN),
  v.transform((value) => new URL(value)),
);
const origins = v.pipe(
  v.string(),
  v.transform((list) => list.split(",").flatMap((part) => part.trim() || [])),
  v.check((list) => list.every(isOrigin), `a comma-separated list, each ${ORIGIN}`),
  v.transform((list) => new Set(list.map((value) => new URL(value).origin))),
);

/** RFC 6797 §6.1 */
const HSTS = /^max-age=\d+(; includeSubDomains)?(; preload)?$/;
const strictTransportSecurity = v.pipe(
  v.string(),
  v.regex(HSTS, 'like "max-age=63072000; includeSubDomains; preload"'),
);

const SHARE = "a number from 0 to 1, like 0.1";
const share = v.pipe(v.string(), v.regex(/^(0|1|0?\.\d{1,9})$/, SHARE), v.transform(Number));

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const READINESS = ["process", "services"] as const;

/** proxy-addr reads a bare number as an IPv4 address, but people mean a hop count, so it is rejected. */
const TRUSTED = /^(loopback|linklocal|uniquelocal|[^/]*[.:][^/]*(\/.+)?)$/;
const TRUST_LIST = "a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal, uniquelocal; or none";

const trustList = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      const list = dataset.value === "none" ? [] : dataset.value.split(",").map((part) => part.trim());
      if (list.every((part) => TRUSTED.test(part))) return proxyaddr.compile(list);
    } catch {}
    addIssue({ message: TRUST_LIST });
    return NEVER;
  }),
);

/**
 * The environment variables of the server. Durations are in milliseconds. `npm run reference` lists them for operators.
 */
export const ServerSettingsSchema = v.object({
  PORT: v.pipe(v.optional(port, "3000"), v.description("The users' port. `0`: any free port.")),
  HOST: v.pipe(v.optional(host), v.description("The address or host name to listen on. Without it: all interfaces.")),
  // In production, start.ts sets a default.
  OPS_PORT: v.pipe(v.optional(port), v.description("The operators' port. `0`: any free port.")),
  OPS_HOST: v.pipe(
    v.optional(host),
    v.description("The address or host name of the operators' port. Without it: `HOST`."),
  ),
  READINESS: v.pipe(
    v.optional(v.picklist(READINESS, READINESS.join(" or "))),
    v.description("With `services`, `/readyz` is 503 while one fails. Default: the site's."),
  ),
  ORIGIN: v.pipe(
    v.optional(origin),
    v.description("The site's origin: if the proxy changes it, and for URLs in cached pages."),
  ),
  TRUSTED_ORIGINS: v.pipe(
    v.optional(origins, ""),
    v.description("Other origins whose pages may send forms to this site."),
  ),
  LOG_LEVEL: v.pipe(
    v.optional(v.picklist(LOG_LEVELS, `one of ${LOG_LEVELS.join(", ")}`), "info"),
    v.description("The least severe level that is logged. Requests have `info`."),
  ),
  TRUST_PROXY: v.pipe(
    v.optional(trustList, "loopback"),
    v.description("The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count."),
  ),
  BODY_SIZE_LIMIT_BYTES: v.pipe(
    v.optional(bytes, "1048576"),
    v.description("The largest multipart form, unless its route or path sets another limit."),
  ),
  CLIENT_TIMEOUT_MS: v.pipe(
    v.optional(milliseconds, "60000"),
    v.description("Clients below 240 bytes per second over this time are dropped. `0`: none."),
  ),
  // In Node, 0 means no timeout.
  KEEP_ALIVE_TIMEOUT_MS: v.pipe(
    v.optional(wholeNumber(MAX_MILLISECONDS, 1), "75000"),
    v.description("An idle connection is closed this long after its last response."),
  ),
  HANDLER_TIMEOUT_MS: v.pipe(
    v.optional(wholeNumber(MAX_MILLISECONDS, 1), "30000"),
    v.description("Without a response, the client gets 503. While a body arrives, time restarts."),
  ),
  // Those without a default follow from the memory limit (limits.ts).
  MAX_CONNECTIONS: v.pipe(
    v.optional(count),
    v.description("Open connections. An idle one takes 12 KiB. Each further one closes another."),
  ),
  MAX_CONCURRENT_REQUESTS: v.pipe(
    v.optional(count),
    v.description("Renders and handlers at once, 2/3 for one route. Each takes up to 200 KiB."),
  ),
  MAX_OPEN_RESPONSES: v.pipe(
    v.optional(count),
    v.description("Streams at once: events, large files, slow data. Each takes up to 100 KiB."),
  ),
  MAX_BODY_MEMORY_BYTES: v.pipe(
    v.optional(memory),
    v.description("The memory of request bodies, with copies, and of heads over 4 KB."),
  ),
  MAX_ENCODERS: v.pipe(
    v.optional(wholeNumber(1_000_000)),
    v.description("Streams that are compressed at once. Each takes 1.1 MiB. `0`: none."),
  ),
  PAGE_CACHE_MAX_BYTES: v.pipe(
    v.optional(memory),
    v.description("The memory of cached pages, with their compressed variants."),
  ),
  STATIC_FILES_MAX_BYTES: v.pipe(
    v.optional(memory),
    v.description("The memory of files up to 512 KiB. Others are read from disk."),
  ),
  LOG_BUFFER_BYTES: v.pipe(
    v.optional(memory),
    v.description("The memory of log lines that wait for the reader. More are dropped."),
  ),
  STRICT_TRANSPORT_SECURITY: v.pipe(
    v.optional(strictTransportSecurity, "max-age=63072000"),
    v.description("The header. Add `; includeSubDomains` once the domain's hosts have HTTPS."),
  ),
  WEB_VITALS_SAMPLE: v.pipe(
    v.optional(share, "1"),
    v.description("The share of the visits whose web vitals count. `0`: none."),
  ),
  SHUTDOWN_DELAY_MS: v.pipe(
    v.optional(milliseconds, "0"),
    v.description("After a signal, the server still accepts connections for this time."),
  ),
  SHUTDOWN_TIMEOUT_MS: v.pipe(
    v.optional(milliseconds, "6000"),
    v.description("After the delay, requests may take this long until they are cut."),
  ),
});

export type ServerSettings = v.InferOutput<typeof ServerSettingsSchema>;
