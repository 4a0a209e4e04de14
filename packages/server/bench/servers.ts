import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { SERVER_ENV } from "../test/support/start-server.ts";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"]));

export type Target = { name: string; command: string[] };
export type Running = { child: ChildProcess; pid: number; url: string };

const children = new Set<ChildProcess>();
// Also if the benchmark fails.
process.once("exit", () => {
  for (const child of children) child.kill();
});

/** Starts a server, and resolves once it logs "ready". */
export async function start({ command }: Target): Promise<Running> {
  const child = spawn(process.execPath, command, { env: SERVER_ENV, stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  let output = "";
  const port = await new Promise<number>((found) => {
    child.stdout.on("data", function findPort(chunk) {
      output += chunk;
      const ready = output.split("\n").find((line) => line.includes('"ready"') && line.endsWith("}"));
      if (ready === undefined) return;
      child.stdout.off("data", findPort).resume(); // Keeps reading, so that the log doesn't stall.
      found(JSON.parse(ready).port);
    });
  });
  return { child, pid: child.pid as number, url: `http://127.0.0.1:${port}` };
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

export function cpuSeconds({ pid }: Running) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export function residentMiB({ pid }: Running) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
