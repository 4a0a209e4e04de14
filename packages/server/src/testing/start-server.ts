import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { parseEnv } from "node:util";

/** The environment of a site's server on free ports. It has the site's required settings, as in its `.env.example`. */
export function serverEnvironment(folder = process.cwd()): Record<string, string> {
  const example = `${folder}/.env.example`;
  const required = existsSync(example) ? parseEnv(readFileSync(example, "utf8")) : {};
  const given = Object.entries(required).map(([name, value]) => [name, process.env[name] ?? value]);
  const free = { HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0" };
  return { PATH: process.env.PATH ?? "", ...free, ...Object.fromEntries(given) };
}

export type Command = readonly [file: string, ...args: string[]];

type Line = Record<string, unknown> & { msg: string };

export type ServerProcess = {
  child: ChildProcessByStdio<null, Readable, null>;
  /** Its log lines until now. */
  lines: Line[];
  /** Resolves with the exit code, once all log lines are read. */
  exited: Promise<number | null>;
};

export type RunningServer = ServerProcess & {
  /** With the base path, and without its last slash. */
  url: string;
  opsUrl: string;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop: () => Promise<number | null>;
};

const running = new Set<ServerProcess["child"]>();

// Ends the servers with the tests. Vitest stops a worker by SIGTERM, and leaves it if it is interrupted itself. Neither
// would emit "exit".
process.once("SIGTERM", () => process.exit(1));
process.once("disconnect", () => process.exit(1));
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Spawns a production build as an operator does, on free ports. `command` gets the path of the build. */
export function spawnServer(
  env: Record<string, string> = {},
  folder = process.cwd(),
  [file, ...args]: Command = [process.execPath],
): ServerProcess {
  const child = spawn(file, [...args, `${folder}/build/server/index.js`], {
    cwd: `${folder}/build`, // Where there is no `.env`.
    env: { ...serverEnvironment(folder), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on("line", (text) => lines.push(JSON.parse(text)));
  return { child, lines, exited: once(child, "close").then(([code]) => code) };
}

/** Spawns a production build. Resolves when it listens: it is ready, unless its services are not. */
export async function startServer(
  env: Record<string, string> = {},
  folder = process.cwd(),
  command?: Command,
): Promise<RunningServer> {
  const server = spawnServer(env, folder, command);
  const { child, lines, exited } = server;
  const findReady = () => lines.find(({ opsPort }) => opsPort !== undefined);
  while (!findReady() && running.has(child)) await setTimeout(10);
  const ready = findReady();
  if (!ready) throw new Error(`the server exited with ${await exited}: ${JSON.stringify(lines)}`);
  const stop = () => {
    child.kill("SIGTERM");
    return exited;
  };
  const { port, basePath, opsPort } = ready;
  const url = `http://127.0.0.1:${port}${basePath}`.slice(0, -1);
  return { ...server, url, opsUrl: `http://127.0.0.1:${opsPort}`, stop };
}
