import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { vi } from "vitest";
import { COMMAND } from "./command.ts";
import { SERVER_ENV } from "./start-server.ts";

type Options = { env?: Record<string, string>; args?: string[] };

/** Starts the development server of a folder; resolves with its URL, and what it writes. */
export async function startDevelopment(
  folder: string,
  onCleanup: (cleanup: () => Promise<void>) => void,
  { env = {}, args = [] }: Options = {},
) {
  const development = spawn(process.execPath, [COMMAND, "dev", ...args], {
    cwd: folder,
    env: { ...SERVER_ENV, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(development, "exit");
  onCleanup(async () => {
    development.kill();
    await exited;
  });
  const lines: string[] = [];
  const errors: string[] = [];
  createInterface({ input: development.stdout }).on("line", (line) => lines.push(line));
  createInterface({ input: development.stderr }).on("line", (line) => errors.push(line));
  const findUrl = () => /https?:\/\/(localhost|127\.0\.0\.1):\d+/.exec(lines.join("\n"))?.[0];
  const url = await vi.waitUntil(findUrl, { timeout: 60_000 });
  return { url, lines, errors, pid: development.pid, exited };
}
