// A log collector expects JSON lines, so a running server writes nothing to standard error.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

/** Starts a server whose standard error goes to a file. */
async function start(...flags: string[]) {
  const file = join(mkdtempSync(join(tmpdir(), "stderr-")), "stderr");
  const command = ["sh", "-c", `exec "$@" 2>${file}`, "sh", process.execPath, ...flags] as const;
  const server = await startServer({}, SITE, command);
  onTestFinished(async () => void (await server.stop()));
  return { ...server, readStandardError: () => readFileSync(file, "utf8") };
}

test("odd targets get 400 without a warning of Node", async () => {
  const { url, lines, stop, readStandardError } = await start();
  const targets = [
    "http://a:b/",
    "http://user@a/",
    "http://[::1/",
    "http://a b@c/",
    "ftp://a/",
    "/a#b",
    "//a:b#c",
    "http://a/#b",
  ];
  for (const target of targets) {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    expect((await exchange(url, bytes)).responses).toMatchObject([{ status: 400 }]);
  }
  expect(await stop()).toBe(0);
  expect(readStandardError()).toBe("");
  expect(lines.filter(({ level }) => level === "warn")).toEqual([]);
});

test("a warning of Node is a log line", async () => {
  const emit = 'process.on("SIGUSR2", () => process.emitWarning("it is odd", "OddWarning"))';
  const { child, lines, stop, readStandardError } = await start("--import", `data:text/javascript,${emit}`);
  child.kill("SIGUSR2");
  const line = { level: "warn", msg: "warning of Node", "exception.message": "it is odd" };
  await expect.poll(() => lines).toContainEqual(expect.objectContaining(line));
  expect(await stop()).toBe(0);
  expect(readStandardError()).toBe("");
});
