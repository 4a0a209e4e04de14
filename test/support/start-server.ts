import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";

type Line = Record<string, unknown> & { msg: string };

export type ServerProcess = {
  child: ChildProcessByStdio<null, Readable, null>;
  /** What it has logged so far. */
  lines: Line[];
  /** Resolves with the exit code, once all that it has logged is read. */
  exited: Promise<number | null>;
};

export type RunningServer = ServerProcess & {
  url: string;
  opsUrl: string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop: () => Promise<number | null>;
};

const running = new Set<ServerProcess["child"]>();

// However the tests end, what they have started ends with them: Vitest stops a worker by SIGTERM, and leaves it
// behind when it is interrupted itself; neither would emit "exit".
process.once("SIGTERM", () => process.exit(1));
process.once("disconnect", () => process.exit(1));
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Spawns a production build as an operator does, on free ports. */
export function spawnServer(env: Record<string, string> = {}, folder = process.cwd()): ServerProcess {
  const child = spawn(process.execPath, [`${folder}/build/server/index.js`], {
    cwd: `${folder}/build`, // Where there is no `.env`.
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on("line", (text) => lines.push(JSON.parse(text)));
  return { child, lines, exited: once(child, "close").then(([code]) => code) };
}

/** Spawns a production build, and resolves when it says that it is ready. */
export async function startServer(env: Record<string, string> = {}, folder = process.cwd()): Promise<RunningServer> {
  const server = spawnServer(env, folder);
  const { child, lines, exited } = server;
  const findReady = () => lines.find(({ msg }) => msg === "ready");
  while (!findReady() && running.has(child)) await setTimeout(10);
  const ready = findReady();
  if (!ready) throw new Error(`the server exited with ${await exited}: ${JSON.stringify(lines)}`);
  const stop = () => {
    child.kill("SIGTERM");
    return exited;
  };
  return { ...server, url: `http://127.0.0.1:${ready.port}`, opsUrl: `http://127.0.0.1:${ready.opsPort}`, stop };
}
