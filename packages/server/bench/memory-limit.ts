import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { createMemoryCgroup } from "../test/support/memory-cgroup.ts";
import { type ClientRequest, load } from "./load.ts";
import { type Running, send, start, stop, type Target } from "./servers.ts";

const MIB = 1024 ** 2;
export const LIMIT_MIB = 128;
export const CLIENTS = [16, 64, 256, 1024];
const REQUESTS = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2800);

/** Starts a server in a cgroup. Returns nothing if this process can't limit memory. */
async function startLimited(target: Target) {
  const cgroup = createMemoryCgroup(LIMIT_MIB * MIB);
  if (!cgroup) return undefined;
  const command = [...(target.limitedFlags ?? []), ...target.command];
  return { running: await start({ ...target, command }, cgroup.command), cgroup };
}

const isRunning = ({ child }: Running) => child.exitCode === null && child.signalCode === null;

/**
 * The memory that a server uses after its first response and after a load, without what the kernel can reclaim. NaN if
 * the load ends it. Nothing if this process can't limit memory.
 */
export async function measureUsedMiB(target: Target, requests: ClientRequest[], seconds: number) {
  const limited = await startLimited(target);
  if (!limited) return {};
  const { running, cgroup } = limited;
  await send(running.url, {});
  const idle = cgroup.readBytes() / MIB;
  await load(running, requests, seconds).catch((error) => {
    if (isRunning(running)) throw error;
  });
  const loaded = isRunning(running) ? cgroup.readBytes() / MIB : Number.NaN;
  if (isRunning(running)) await stop(running);
  cgroup.remove();
  return { idle, loaded };
}

/**
 * How many clients that send 100 KB of requests at once, and read no response, a server survives: up to 1,024.
 * Nothing if this process can't limit memory.
 */
export async function findSurvivedClients(target: Target, seconds: number) {
  let survived = 0;
  for (const count of CLIENTS) {
    const limited = await startLimited(target);
    if (!limited) return undefined;
    const { running, cgroup } = limited;
    const clients = Array.from({ length: count }, () =>
      connect(Number(new URL(running.url).port), "127.0.0.1").pause(),
    );
    for (const client of clients) client.on("error", () => {}).write(REQUESTS);
    await setTimeout(seconds * 1000);
    for (const client of clients) client.destroy();
    const hasSurvived = isRunning(running);
    if (hasSurvived) await stop(running);
    cgroup.remove();
    if (!hasSurvived) return survived;
    survived = count;
  }
  return survived;
}
