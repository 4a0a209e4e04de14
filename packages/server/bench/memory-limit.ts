import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { createMemoryCgroup } from "../test/support/memory-cgroup.ts";
import { readNodeFlags } from "../test/support/node-flags.ts";
import { start, stop, type Target } from "./servers.ts";

export const LIMIT_MIB = 128;
export const CLIENTS = [16, 64, 256, 1024];
const REQUESTS = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2800);

/**
 * How many clients that send 100 KB of requests at once, and read no response, a server survives with 128 MiB and the
 * image's flags of Node: up to 1,024. NaN if this process can't limit memory.
 */
export async function findSurvivedClients(target: Target, seconds: number) {
  let survived = 0;
  for (const count of CLIENTS) {
    const cgroup = createMemoryCgroup(LIMIT_MIB * 1024 ** 2);
    if (!cgroup) return Number.NaN;
    const command = [...readNodeFlags(LIMIT_MIB), ...target.command];
    const running = await start({ ...target, command }, cgroup.command);
    const clients = Array.from({ length: count }, () =>
      connect(Number(new URL(running.url).port), "127.0.0.1").pause(),
    );
    for (const client of clients) client.on("error", () => {}).write(REQUESTS);
    await setTimeout(seconds * 1000);
    for (const client of clients) client.destroy();
    const hasSurvived = running.child.exitCode === null && running.child.signalCode === null;
    if (hasSurvived) await stop(running);
    cgroup.remove();
    if (!hasSurvived) return survived;
    survived = count;
  }
  return survived;
}
