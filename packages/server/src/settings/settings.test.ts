import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import { ServerSettingsSchema } from "./server-settings.ts";
import { createSettingsSchema, parseSettings, SettingsError } from "./settings.ts";

/** The faults that reading settings throws. */
function findFaults(read: () => unknown) {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
}

const WHOLE_NUMBER = (max: number) => `a whole number from 0 to ${max}`;
const LEVELS = "one of fatal, error, warn, info, debug, trace, silent";
const ADDRESS = "an IP address or a host name";
const ORIGIN = "an origin, like https://www.example.org";
const HSTS = 'like "max-age=63072000; includeSubDomains; preload"';
const RANGES = "a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal, uniquelocal; or none";

test.each([
  ["PORT", "abc", WHOLE_NUMBER(65_535)],
  ["PORT", "99999", WHOLE_NUMBER(65_535)],
  ["PORT", "65536", WHOLE_NUMBER(65_535)],
  ["PORT", "-1", WHOLE_NUMBER(65_535)],
  ["PORT", "80.5", WHOLE_NUMBER(65_535)],
  ["PORT", "0x50", WHOLE_NUMBER(65_535)],
  ["PORT", "1e3", WHOLE_NUMBER(65_535)],
  ["PORT", " 3000", WHOLE_NUMBER(65_535)],
  ["PORT", "3000\n", WHOLE_NUMBER(65_535)],
  ["PORT", "99999999999999999999", WHOLE_NUMBER(65_535)],
  ["OPS_PORT", "abc", WHOLE_NUMBER(65_535)],
  ["OPS_PORT", "65536", WHOLE_NUMBER(65_535)],
  ["HOST", "a b", ADDRESS],
  ["HOST", "http://localhost", ADDRESS],
  ["HOST", "localhost:3000", ADDRESS],
  ["HOST", "-", ADDRESS],
  ["LOG_LEVEL", "loud", LEVELS],
  ["LOG_LEVEL", "INFO", LEVELS],
  ["OPS_HOST", "localhost:3001", ADDRESS],
  ["READINESS", "none", "process or services"],
  ["ORIGIN", "www.example.org", ORIGIN],
  ["ORIGIN", "https://www.example.org/", ORIGIN],
  ["ORIGIN", "ftp://www.example.org", ORIGIN],
  ["ORIGIN", "https://*.example.org", ORIGIN],
  ["ORIGIN", "https://user@www.example.org", ORIGIN],
  ["TRUSTED_ORIGINS", "https://*.example.org", `a comma-separated list, each ${ORIGIN}`],
  ["TRUSTED_ORIGINS", "https://a.example, b.example", `a comma-separated list, each ${ORIGIN}`],
  ["BODY_SIZE_LIMIT_BYTES", "1MB", WHOLE_NUMBER(2 ** 40)],
  ["BODY_SIZE_LIMIT_BYTES", "9000000000000000", WHOLE_NUMBER(2 ** 40)],
  ["PAGE_CACHE_MAX_BYTES", "1", `a whole number from 1000 to ${2 ** 40}`],
  ["CLIENT_TIMEOUT_MS", "60s", WHOLE_NUMBER(3_600_000)],
  ["MAX_CONNECTIONS", "0", "a whole number from 1 to 1000000"],
  ["STRICT_TRANSPORT_SECURITY", "yes", HSTS],
  ["STRICT_TRANSPORT_SECURITY", "max-age=1\r\nX: y", HSTS],
  ["TRUST_PROXY", "true", RANGES],
  ["TRUST_PROXY", "1", RANGES],
  ["TRUST_PROXY", "10.0.0.0/33", RANGES],
  ["TRUST_PROXY", "10.0.0.1,,10.0.0.2", RANGES],
  ["TRUST_PROXY", "proxy.example.org", RANGES],
  ["KEEP_ALIVE_TIMEOUT_MS", "0", "a whole number from 1 to 3600000"],
  ["SHUTDOWN_DELAY_MS", "5s", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_DELAY_MS", "-1", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_TIMEOUT_MS", "10_000", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_TIMEOUT_MS", "3600001", WHOLE_NUMBER(3_600_000)],
])("%s=%j is a fault that names the allowed values", (name, value, allowed) => {
  const fault = `${name}=${JSON.stringify(value)} is not valid: it must be ${allowed}`;
  expect(findFaults(() => parseSettings(ServerSettingsSchema, { [name]: value }))).toEqual([fault]);
});

test.each([
  ["PORT", "65535", 65_535],
  ["PORT", "", 3000],
  ["OPS_PORT", "0", 0],
  ["HOST", "127.0.0.1", "127.0.0.1"],
  ["HOST", "::1", "::1"],
  ["HOST", "localhost", "localhost"],
  ["HOST", "web-1.example.org", "web-1.example.org"],
  ["LOG_LEVEL", "fatal", "fatal"],
  ["LOG_LEVEL", "error", "error"],
  ["LOG_LEVEL", "warn", "warn"],
  ["LOG_LEVEL", "info", "info"],
  ["LOG_LEVEL", "debug", "debug"],
  ["LOG_LEVEL", "trace", "trace"],
  ["LOG_LEVEL", "silent", "silent"],
  ["READINESS", "services", "services"],
  ["ORIGIN", "https://www.example.org:8443", new URL("https://www.example.org:8443")],
  ["ORIGIN", "https://WWW.EXAMPLE.org", new URL("https://www.example.org")],
  ["ORIGIN", "https://bücher.example", new URL("https://xn--bcher-kva.example")],
  ["TRUSTED_ORIGINS", "", new Set()],
  ["TRUSTED_ORIGINS", "https://A.example:443", new Set(["https://a.example"])],
  ["TRUSTED_ORIGINS", "https://a.example, http://b.example:81", new Set(["https://a.example", "http://b.example:81"])],
  ["BODY_SIZE_LIMIT_BYTES", "10000000000", 10_000_000_000],
  ["STRICT_TRANSPORT_SECURITY", "max-age=0", "max-age=0"],
  ["STRICT_TRANSPORT_SECURITY", "max-age=1; includeSubDomains; preload", "max-age=1; includeSubDomains; preload"],
  ["KEEP_ALIVE_TIMEOUT_MS", "620000", 620_000],
  ["SHUTDOWN_DELAY_MS", "0", 0],
  ["SHUTDOWN_DELAY_MS", "3600000", 3_600_000],
  ["SHUTDOWN_TIMEOUT_MS", "0", 0],
  ["SHUTDOWN_TIMEOUT_MS", "3600000", 3_600_000],
])("%s=%j is %j", (name, value, expected) => {
  expect(parseSettings(ServerSettingsSchema, { [name]: value })).toMatchObject({
    settings: expect.objectContaining({ [name]: expected }),
    warnings: [],
  });
});

test("a missing setting is a fault with its name", () => {
  const schema = v.object({ ...ServerSettingsSchema.entries, DATABASE_URL: v.string() });
  const faults = ["DATABASE_URL is not set, and has no default"];
  expect(findFaults(() => parseSettings(schema, {}))).toEqual(faults);
  expect(findFaults(() => parseSettings(schema, { DATABASE_URL: "" }))).toEqual(faults);
  expect(parseSettings(schema, { DATABASE_URL: "x" })).toMatchObject({
    settings: expect.objectContaining({ DATABASE_URL: "x", PORT: 3000 }),
    warnings: [],
  });
});

test.each(["cdn.example.org", "'self'", "data:,x", "https://a;script-src", "https://a b.example"])(
  "%j is no source of a policy: the fault has the setting's name",
  (value) => {
    const schema = createSettingsSchema({ settings: { CDN: v.string() }, policySources: { CDN: ["img-src"] } });
    const fault = `CDN=${JSON.stringify(value)} is not valid: it must be a URL, like https://cdn.example.org`;
    expect(findFaults(() => parseSettings(schema, { CDN: value }))).toEqual([fault]);
    expect(parseSettings(schema, { CDN: "https://cdn.example.org:8443" })).toHaveProperty("settings.PORT", 3000);
  },
);

test("a setting can be read from a file, unless it is set", () => {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "port");
  writeFileSync(file, "4000\n");
  const parse = (env: NodeJS.ProcessEnv) => parseSettings(ServerSettingsSchema, env);
  expect(parse({ PORT_FILE: file })).toMatchObject({ settings: { PORT: 4000 }, warnings: [] });
  expect(parse({ PORT_FILE: file })).toHaveProperty("given.PORT", "4000");
  expect(parse({ PORT_FILE: file, PORT: "5000" })).toMatchObject({ settings: { PORT: 5000 } });
  const fault = expect.stringMatching(/^PORT_FILE="\/nowhere" can't be read: ENOENT/);
  expect(findFaults(() => parse({ PORT_FILE: "/nowhere" }))).toEqual([fault]);
});

test("a setting isn't read from a pipe, a device or a folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync("mkfifo", [`${folder}/pipe`]);
  for (const file of [`${folder}/pipe`, "/dev/zero", folder]) {
    const faults = [`PORT_FILE=${JSON.stringify(file)} can't be read: it isn't a file`];
    expect(findFaults(() => parseSettings(ServerSettingsSchema, { PORT_FILE: file }))).toEqual(faults);
  }
});

test.each(["SESSION_SECRET", "DATABASE_URL", "API_TOKEN", "SIGNING_KEY", "SMTP_PASSWORD"])(
  "the value of %s is in no fault",
  (name) => {
    const value = "postgres://ada:hidden@db";
    const schemas = [
      v.pipe(v.string(), v.email()),
      v.pipe(v.string(), v.minLength(64)),
      v.pipe(v.string(), v.length(1)),
    ];
    for (const own of [...schemas, v.picklist(["a"]), v.literal("a")]) {
      const faults = findFaults(() => parseSettings(v.object({ [name]: own }), { [name]: value }));
      expect(faults).toEqual([expect.stringMatching(`^${name} is not valid: it must be `)]);
      expect(faults.join()).not.toContain("hidden");
    }
  },
);

test.each([
  ["SHUTDOWN_TIMEOUT", []],
  ["SHUTDOWN_TIMOUT_MS", ["SHUTDOWN_TIMOUT_MS is not a setting. Is SHUTDOWN_TIMEOUT_MS meant?"]],
  ["LOG_LEVELS", ["LOG_LEVELS is not a setting. Is LOG_LEVEL meant?"]],
  ["LOG_LEVEL_FILE", []],
  ["APP_PORT", []],
  ["HOME", []],
])("%s in the environment: warnings %j", (name, warnings) => {
  const env = { [name]: name.endsWith("_FILE") ? ".nvmrc" : "1", LOG_LEVEL: "info" };
  expect(parseSettings(ServerSettingsSchema, env)).toMatchObject({ warnings });
});

test.each([
  ["none", "127.0.0.1", false],
  ["loopback", "127.0.0.1", true],
  ["loopback", "10.0.0.1", false],
  ["loopback, linklocal, uniquelocal", "10.0.0.1", true],
  ["192.0.2.1,2001:db8::/32", "2001:db8::1", true],
  ["192.0.2.1,2001:db8::/32", "192.0.2.2", false],
])("TRUST_PROXY=%s trusts %s: %j", (value, address, isTrusted) => {
  const { settings } = parseSettings(ServerSettingsSchema, { TRUST_PROXY: value });
  expect(settings.TRUST_PROXY(address, 0)).toBe(isTrusted);
});
