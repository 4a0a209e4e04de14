import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { parseEnv } from "node:util";
import proxyaddr from "proxy-addr";
import * as v from "valibot";
import { isSourceUrl } from "../http/policy-source.ts";
import { findMeant } from "./misspelling.ts";

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

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

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

/** The environment variables of the server. Durations are in milliseconds. */
export const ServerSettingsSchema = v.object({
  PORT: v.optional(port, "3000"),
  HOST: v.optional(host),
  OPS_PORT: v.optional(port, "3001"),
  OPS_HOST: v.optional(host),
  ORIGIN: v.optional(origin),
  TRUSTED_ORIGINS: v.optional(origins, ""),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `one of ${LOG_LEVELS.join(", ")}`), "info"),
  TRUST_PROXY: v.optional(trustList, "loopback"),
  BODY_SIZE_LIMIT_BYTES: v.optional(bytes, "1048576"),
  CLIENT_TIMEOUT_MS: v.optional(milliseconds, "60000"),
  // In Node, 0 means no timeout.
  KEEP_ALIVE_TIMEOUT_MS: v.optional(wholeNumber(MAX_MILLISECONDS, 1), "75000"),
  HANDLER_TIMEOUT_MS: v.optional(wholeNumber(MAX_MILLISECONDS, 1), "30000"),
  // Those without a default follow from the memory limit (limits.ts).
  MAX_CONNECTIONS: v.optional(count),
  MAX_CONCURRENT_REQUESTS: v.optional(count),
  MAX_OPEN_RESPONSES: v.optional(count),
  MAX_BODY_MEMORY_BYTES: v.optional(memory),
  MAX_ENCODERS: v.optional(wholeNumber(1_000_000)),
  PAGE_CACHE_MAX_BYTES: v.optional(memory),
  STATIC_FILES_MAX_BYTES: v.optional(memory),
  LOG_BUFFER_BYTES: v.optional(memory),
  STRICT_TRANSPORT_SECURITY: v.optional(strictTransportSecurity, "max-age=63072000"),
  SHUTDOWN_DELAY_MS: v.optional(milliseconds, "0"),
  SHUTDOWN_TIMEOUT_MS: v.optional(milliseconds, "6000"),
});

export type ServerSettings = v.InferOutput<typeof ServerSettingsSchema>;

const sourceUrl = v.check(
  (value: unknown) => value === undefined || isSourceUrl(String(value)),
  "a URL, like https://cdn.example.org",
);

/** The part of a site's definition that concerns settings. */
type OwnSettings = { settings?: v.ObjectEntries; policySources?: object };

/** The settings of the server and a site's own. */
export function createSettingsSchema({ settings: own = {}, policySources = {} }: OwnSettings) {
  const urls = Object.entries(own).filter(([name]) => name in policySources);
  const checked = urls.map(([name, schema]) => [name, v.pipe(schema, sourceUrl)]);
  const schema: unknown = v.object({ ...ServerSettingsSchema.entries, ...own, ...Object.fromEntries(checked) });
  return schema as typeof ServerSettingsSchema;
}

/** Faults that the operator can repair, a line for each. It has no stack. */
export class SettingsError extends Error {
  override stack = "";
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** The values by name, from the environment or from files, before they are parsed. */
type Given = Record<string, string | undefined>;

/** The values of such settings are in no fault: a fault is logged. */
const SECRET = /SECRET|KEY|TOKEN|PASSWORD|URL/i;
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Adds the variables of the file `.env` in the working directory, unless they are set already. */
export function loadEnvFile() {
  try {
    const values = parseEnv(readText(".env").replace(BYTE_ORDER_MARK, ""));
    for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new SettingsError([`.env can't be read: ${message}`]);
  }
}

/** A pipe or a device could keep the start waiting. */
function readText(file: string) {
  if (!statSync(file).isFile()) throw new Error("it isn't a file");
  return readFileSync(file, "utf8");
}

/**
 * Reads the settings. An empty variable counts as not set. If `NAME` isn't set and `NAME_FILE` is, the value is the
 * content of that file, as with the secrets of Docker and Kubernetes. Each fault is a line with the variable's name,
 * its value unless it may be a secret, and the allowed values. Each warning is a line about a variable whose name is
 * nearly that of a setting. Throws a SettingsError.
 */
export function parseSettings<Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  env: NodeJS.ProcessEnv,
): { settings: v.InferOutput<typeof schema>; given: Given; warnings: string[] } {
  const given: Given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const names = Object.keys(schema.entries);
  const faults: string[] = [];
  for (const name of names) {
    const file = given[`${name}_FILE`];
    if (given[name] !== undefined || file === undefined) continue;
    try {
      given[name] = readText(file).trimEnd();
    } catch (error) {
      faults.push(`${name}_FILE=${JSON.stringify(file)} can't be read: ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new SettingsError(faults);
  const result = v.safeParse(schema, given, { abortPipeEarly: true });
  if (result.success) return { settings: result.output, given, warnings: findMisspelt(Object.keys(given), names) };
  throw new SettingsError(
    result.issues.map(({ path, message, received }) => {
      const name = String(path?.[0].key);
      if (given[name] === undefined) return `${name} is not set, and has no default`;
      // Valibot's own messages quote the value.
      if (SECRET.test(name)) return `${name} is not valid: it must be ${message.replace(received, "another value")}`;
      return `${name}=${JSON.stringify(given[name])} is not valid: it must be ${message}`;
    }),
  );
}

/** The server's own settings as they are given, or else their defaults. None of them is a secret. */
export function describeSettings(given: Given) {
  return Object.fromEntries(
    Object.entries(ServerSettingsSchema.entries).map(([name, { default: value }]) => [name, given[name] ?? value]),
  );
}

function findMisspelt(given: string[], names: string[]) {
  return given.flatMap((name) => {
    const meant = names.includes(name.replace(/_FILE$/, "")) ? undefined : findMeant(name, names);
    return meant ? [`${name} is not a setting. Is ${meant} meant?`] : [];
  });
}
