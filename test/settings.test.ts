import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SettingsSchema } from "../server/settings.ts";
import { startServer } from "./support/start-server.ts";

const BUILD = "build/server/index.js";

const WHOLE_NUMBER = (highest: number) => `a whole number from 0 to ${highest}`;
const LEVELS = "one of fatal, error, warn, info, debug, trace, silent";
const ADDRESS = "an IP address or a host name";
const RANGES = "a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal, uniquelocal; or none";

const other = createServer();
let takenPort: string;

beforeAll(async () => {
  await once(other.listen(0, "127.0.0.1"), "listening");
  takenPort = String((other.address() as AddressInfo).port);
});

afterAll(() => {
  other.close();
});

/** Runs the server, which is expected to end by itself. */
async function start(env: Record<string, string>) {
  const free = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0" };
  const failure = await promisify(execFile)(process.execPath, [BUILD], { env: { ...free, ...env } }).catch((e) => e);
  return { code: failure.code, stdout: failure.stdout, stderr: failure.stderr };
}

/** Reads the settings as whoever imports the server does, which opens no port. */
function importServer(env: Record<string, string>) {
  const script = `await import("${process.cwd()}/${BUILD}").catch((error) => console.log(error.message))`;
  return promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { PATH: process.env.PATH, ...env },
  });
}

test.concurrent.each([
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
  ["TRUST_PROXY", "true", RANGES],
  ["TRUST_PROXY", "1", RANGES],
  ["TRUST_PROXY", "10.0.0.0/33", RANGES],
  ["TRUST_PROXY", "10.0.0.1,,10.0.0.2", RANGES],
  ["TRUST_PROXY", "proxy.example.org", RANGES],
  ["SHUTDOWN_DELAY_MS", "5s", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_DELAY_MS", "-1", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_TIMEOUT_MS", "10_000", WHOLE_NUMBER(3_600_000)],
  ["SHUTDOWN_TIMEOUT_MS", "3600001", WHOLE_NUMBER(3_600_000)],
])("%s=%j ends the server with one line", async (name, value, allowed) => {
  expect(await start({ [name]: value })).toEqual({
    code: 1,
    stdout: "",
    stderr: `${name}=${JSON.stringify(value)} is not valid: it must be ${allowed}\n`,
  });
});

test("several wrong variables are a line each", async () => {
  const { code, stderr } = await start({ PORT: "abc", LOG_LEVEL: "loud", SHUTDOWN_DELAY_MS: "soon" });
  expect(code).toBe(1);
  expect(stderr.split("\n").map((line: string) => line.split("=")[0])).toEqual([
    ...["PORT", "LOG_LEVEL", "SHUTDOWN_DELAY_MS"],
    "",
  ]);
});

test("whoever imports the server gets a wrong setting as an error", async () => {
  const { stdout, stderr } = await importServer({ PORT: "abc" });
  expect(stdout).toBe('PORT="abc" is not valid: it must be a whole number from 0 to 65535\n');
  expect(stderr).toBe("");
});

test.concurrent.each([
  ["PORT", "65535"],
  ["PORT", ""],
  ["OPS_PORT", "0"],
  ["HOST", "127.0.0.1"],
  ["HOST", "::1"],
  ["HOST", "localhost"],
  ["HOST", "web-1.example.org"],
  ["LOG_LEVEL", "fatal"],
  ["LOG_LEVEL", "error"],
  ["LOG_LEVEL", "warn"],
  ["LOG_LEVEL", "info"],
  ["LOG_LEVEL", "debug"],
  ["LOG_LEVEL", "trace"],
  ["LOG_LEVEL", "silent"],
  ["TRUST_PROXY", "none"],
  ["TRUST_PROXY", "loopback"],
  ["TRUST_PROXY", "loopback, linklocal, uniquelocal"],
  ["TRUST_PROXY", "192.0.2.1,2001:db8::/32"],
  ["SHUTDOWN_DELAY_MS", "0"],
  ["SHUTDOWN_DELAY_MS", "3600000"],
  ["SHUTDOWN_TIMEOUT_MS", "0"],
  ["SHUTDOWN_TIMEOUT_MS", "3600000"],
])("%s=%j is fine", async (name, value) => {
  expect(await importServer({ [name]: value })).toEqual({ stdout: "", stderr: "" });
});

test("the ports asked for are the ports taken", async () => {
  const before = await startServer();
  const ports = { PORT: new URL(before.url).port, OPS_PORT: new URL(before.opsUrl).port };
  await before.stop();
  const { url, opsUrl, stop } = await startServer(ports);
  expect([new URL(url).port, new URL(opsUrl).port]).toEqual([ports.PORT, ports.OPS_PORT]);
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
  expect(await stop()).toBe(0);
});

test.each(["PORT", "OPS_PORT"])("a %s that is in use ends the server with one line", async (name) => {
  const { code, stdout, stderr } = await start({ [name]: takenPort });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^HOST=127.0.0.1 ${name}=${takenPort} can't be listened on: .*EADDRINUSE.*\n$`));
  expect(stdout).not.toContain("ready");
});

test("a HOST that isn't this machine's ends the server with one line", async () => {
  const { code, stderr } = await start({ HOST: "192.0.2.1" });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^HOST=192\.0\.2\.1 .*EADDRNOTAVAIL.*\n$/);
});

test("the README's table has every setting, with its default", () => {
  const section = readFileSync("README.md", "utf8")
    .split(/^## /m)
    .find((text) => text.startsWith("Settings\n"));
  const rows = [...(section ?? "").matchAll(/^\| `(\w+)` +\| (.*?) +\| .+ \|$/gm)].map(([, name, cell]) => [
    name,
    cell,
  ]);
  const defaults = Object.entries(SettingsSchema.entries).map(([name, { default: value }]) => [
    name,
    value === undefined ? "all interfaces" : `\`${value}\``,
  ]);
  expect(rows).toEqual(defaults);
});
