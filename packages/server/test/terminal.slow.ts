import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { SITE } from "./support/site.ts";
import { SERVER_ENV } from "./support/start-server.ts";

/** Node doesn't make terminals. */
const IN_TERMINAL = ["--import", "data:text/javascript,process.stdout.isTTY = true"];

/** Starts the build, without a port for operators unless `env` sets one. */
function start(flags: string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...flags, `${SITE}/build/server/index.js`], {
    cwd: `${SITE}/build`,
    env: { ...SERVER_ENV, OPS_PORT: "", LOG_LEVEL: "info", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [lines, errors]: [string[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  return { child, lines, errors, closed: once(child, "close") };
}

test("in a terminal, the server prints where the page is, and log lines are text", async () => {
  const { child, lines, closed } = start(IN_TERMINAL);
  const find = () => /^ {2}\S+ is ready: (http:\S+)$/m.exec(lines.join("\n"))?.[1];
  await expect.poll(find).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${find()}`)).status).toBe(200);
  child.kill("SIGTERM");
  await closed;
  expect(lines.filter((line) => line.startsWith("{"))).toEqual([]);
  expect(lines.join("\n")).toMatch(/^[\d:]{8} info {2}request .*method=GET.* path=\/ /m);
  expect(lines.join("\n")).toMatch(/^[\d:]{8} info {2}stopped exitCode=0/m);
});

test("in a terminal, the URL of a server on all interfaces has the host localhost", async () => {
  const { lines } = start(IN_TERMINAL, { HOST: "" });
  await expect.poll(() => lines).toContainEqual(expect.stringMatching(/is ready: http:\/\/localhost:\d+$/));
});

test("without a terminal, every line is JSON", async () => {
  const { child, lines, closed } = start();
  await expect.poll(() => lines.length).toBe(2);
  child.kill("SIGTERM");
  await closed;
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(expect.arrayContaining(["starting", "ready", "stopped"]));
});

test("the operators' port is open only if it is set, or NODE_ENV is production, as in the image", async () => {
  const [, ready] = await linesOf({});
  expect(ready).toEqual(expect.objectContaining({ msg: "ready", port: expect.any(Number) }));
  expect(ready).not.toHaveProperty("opsPort");
  expect((await linesOf({ OPS_PORT: "0" }))[1]).toHaveProperty("opsPort", expect.any(Number));
  // If another program has port 3001, the server can't start.
  const server = start([], { NODE_ENV: "production" });
  await expect
    .poll(() => [...server.lines, ...server.errors].join("\n"))
    .toMatch(/"opsPort":3001|OPS_PORT=3001 is in use/);
});

async function linesOf(env: Record<string, string>) {
  const { lines } = start([], env);
  await expect.poll(() => lines.length).toBe(2);
  return lines.map((line) => JSON.parse(line));
}
