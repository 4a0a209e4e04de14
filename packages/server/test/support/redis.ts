import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@redis/client";
import { findFreePort } from "react-router-express-server/testing";

const NO_DISK = ["--save", ""];

/** Starts a Redis of its own, or REDIS_SERVER, and resolves when it answers. */
export async function startRedis(port?: number, options = NO_DISK) {
  const ownPort = port ?? (await findFreePort());
  const url = `redis://127.0.0.1:${ownPort}`;
  const child = spawn(process.env.REDIS_SERVER ?? "redis-server", ["--port", String(ownPort), ...options], {
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const send = async (...command: string[]) => {
    const client = createClient({ url, socket: { reconnectStrategy: false } }).on("error", () => {});
    try {
      await client.connect();
      return await client.sendCommand<unknown>(command);
    } finally {
      client.destroy();
    }
  };
  while ((await send("PING").catch(() => "")) !== "PONG") await setTimeout(20);
  return {
    url,
    port: ownPort,
    child,
    send,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export type RunningRedis = Awaited<ReturnType<typeof startRedis>>;
