import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import { LOG_TIMEOUT_MS } from "../src/process/signals.ts";
import { CLOSE_TIMEOUT_MS } from "../src/process/supervision.ts";
import { ServerSettingsSchema } from "../src/settings/server-settings.ts";
import { SITE } from "./support/site.ts";
import { SERVER_ENV, startServer } from "./support/start-server.ts";

/** Runs the server in a working directory until it exits. */
async function start(env: Record<string, string>, cwd = `${SITE}/build`) {
  const options = { cwd, env: { ...SERVER_ENV, ...env } };
  const command = promisify(execFile)(process.execPath, [`${SITE}/build/server/index.js`], options);
  const { code, stdout, stderr } = await command.catch((error) => error);
  return { code, stdout, stderr };
}

test("invalid settings fail the startup, with one line for each", async () => {
  const env = { PORT: "abc", LOG_LEVEL: "loud", SHUTDOWN_DELAY_MS: "soon", PICTURES_URL: "pictures" };
  expect(await start(env)).toEqual({
    code: 1,
    stdout: "",
    stderr:
      `PORT="abc" is not valid: it must be a whole number from 0 to 65535\n` +
      'LOG_LEVEL="loud" is not valid: it must be one of fatal, error, warn, info, debug, trace, silent\n' +
      `SHUTDOWN_DELAY_MS="soon" is not valid: it must be a whole number from 0 to 3600000\n` +
      "PICTURES_URL is not valid: it must be a URL, like https://cdn.example.org\n",
  });
});

test("the file .env adds settings, and the environment takes precedence", async () => {
  const folder = mkdtempSync(`${tmpdir()}/greeting-env-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/.env`, "CLIENT_TIMEOUT_MS=soon\nLOG_LEVEL=loud\n");
  const fault = `CLIENT_TIMEOUT_MS="soon" is not valid: it must be a whole number from 0 to 3600000\n`;
  expect(await start({ LOG_LEVEL: "info" }, folder)).toEqual({ code: 1, stdout: "", stderr: fault });
});

test("the file .env may begin with a byte order mark; a folder is a fault", async () => {
  const folder = mkdtempSync(`${tmpdir()}/greeting-env-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/.env`, "\uFEFFCLIENT_TIMEOUT_MS=soon\n");
  const fault = `CLIENT_TIMEOUT_MS="soon" is not valid: it must be a whole number from 0 to 3600000\n`;
  expect(await start({}, folder)).toEqual({ code: 1, stdout: "", stderr: fault });
  rmSync(`${folder}/.env`);
  mkdirSync(`${folder}/.env`);
  expect(await start({}, folder)).toEqual({ code: 1, stdout: "", stderr: ".env can't be read: it isn't a file\n" });
});

test.each(["PORT", "OPS_PORT"])("the server exits with one line if %s is in use", async (name) => {
  const other = createServer();
  await once(other.listen(0, "127.0.0.1"), "listening");
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await start({ [name]: String(port) });
  other.close();
  expect(code).toBe(1);
  const holder =
    process.platform === "linux" ? ` by process ${process.pid} (node in ${process.cwd()}): stop it, or` : ":";
  expect(stderr).toBe(`HOST=127.0.0.1 ${name}=${port} is in use${holder} set another port\n`);
  expect(stdout).not.toContain("ready");
});

test.each(["HOST", "OPS_HOST"])(
  "the server exits with one line if %s isn't an address of this machine",
  async (name) => {
    const { code, stderr } = await start({ [name]: "192.0.2.1" });
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${name}=192\\.0\\.2\\.1 .*EADDRNOTAVAIL.*\n$`));
  },
);

// Another process may take a port in between, so the test is retried.
test("the server listens on the ports of the settings", { retry: 2 }, async () => {
  const before = await startServer();
  const ports = { PORT: new URL(before.url).port, OPS_PORT: new URL(before.opsUrl).port };
  await before.stop();
  const { url, opsUrl, stop } = await startServer(ports);
  expect([new URL(url).port, new URL(opsUrl).port]).toEqual([ports.PORT, ports.OPS_PORT]);
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
  expect(await stop()).toBe(0);
});

test("the default timeouts of a shutdown end it within the 10 s of docker stop", () => {
  const { SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = v.parse(ServerSettingsSchema, {});
  expect(SHUTDOWN_DELAY_MS + SHUTDOWN_TIMEOUT_MS + CLOSE_TIMEOUT_MS + LOG_TIMEOUT_MS).toBeLessThan(10_000);
});
