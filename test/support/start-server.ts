import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

type Line = Record<string, unknown> & { msg: string };

export type RunningServer = {
  url: string;
  opsUrl: string;
  child: ChildProcess;
  /** What it has logged so far. */
  lines: Line[];
  /** Sends SIGTERM; resolves with the exit code. */
  stop: () => Promise<number | null>;
};

/** Starts a production build as an operator does, on free ports; resolves when it says it is ready. */
export async function startServer(env: Record<string, string> = {}, folder = process.cwd()): Promise<RunningServer> {
  const child = spawn(process.execPath, [`${folder}/build/server/index.js`], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  const { port, opsPort } = await new Promise<Line>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      if (line.msg === "ready") resolve(line);
    });
    child.once("exit", (code) => reject(new Error(`the server exited with ${code}: ${JSON.stringify(lines)}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    return code as number | null;
  };
  return { url: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${opsPort}`, child, lines, stop };
}
