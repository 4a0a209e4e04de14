import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { findFreePort } from "react-router-express-server/testing";
import { SERVER_ENV } from "../test/support/start-server.ts";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"]));

/** `command` are Node's arguments, `limitedFlags` more of them for 128 MiB. The server reads PORT. */
export type Target = { name: string; command: string[]; limitedFlags?: string[]; cwd?: string };
export type Running = { child: ChildProcess; pid: number; url: string };

const children = new Set<ChildProcess>();
// Also if the benchmark fails.
process.once("exit", () => {
  for (const child of children) child.kill();
});

/** Starts a server, by another command if there is one, and resolves once it accepts connections. */
export async function start({ name, command, cwd }: Target, by: readonly string[] = []): Promise<Running> {
  const port = await findFreePort();
  const env = { ...SERVER_ENV, NODE_ENV: "production", PORT: String(port) };
  const [file = "", ...args] = [...by, process.execPath, ...command];
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  child.stdout.resume(); // Reads the log, so that it doesn't stall.
  while (!(await acceptsConnections(port))) {
    if (!children.has(child)) throw new Error(`${name} exited with ${child.exitCode}`);
    await setTimeout(5);
  }
  return { child, pid: child.pid as number, url: `http://127.0.0.1:${port}` };
}

function acceptsConnections(port: number) {
  return new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

export async function stop({ child }: Running) {
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** Sends a request over a new connection. */
export async function send(url: string, headers: Record<string, string>) {
  const [response] = (await once(get(url, { headers, agent: false }), "response")) as [IncomingMessage];
  return { response, body: await buffer(response) };
}

/** From starting the process to its first response, in ms. */
export async function measureStart(target: Target) {
  const startedAt = performance.now();
  const running = await start(target);
  await send(running.url, {});
  const took = performance.now() - startedAt;
  await stop(running);
  return took;
}

export function cpuSeconds({ pid }: Pick<Running, "pid">) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export function residentMiB({ pid }: Running) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
