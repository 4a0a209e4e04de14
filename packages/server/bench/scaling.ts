// `npm run bench -- scaling` simulates 1, 3 and 30 processes behind a CDN of 100 locations (cdn.ts), with and without
// shared pages, and writes docs/plots/scaling.json, the table of docs/speed-and-scaling.md and the plots. The processes and
// Redis are real, each process with 128 MiB. It takes a quarter of an hour.
// It needs Linux, redis-server, and root to limit memory.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { buildWithRoutes } from "../test/support/build-with-routes.ts";
import { createMemoryCgroup } from "../test/support/memory-cgroup.ts";
import { NODE_ENV, readNodeFlags } from "../test/support/node-flags.ts";
import { startRedis } from "../test/support/redis.ts";
import { type RunningServer, startServer } from "../test/support/start-server.ts";
import { startCdn } from "./cdn.ts";
import { cpuSeconds } from "./servers.ts";

const PROCESSES = [1, 3, 30];
const LOCATIONS = 100;
const PAGES = 30;
/** Stands for a minute: what is counted in a lifetime is the same for a longer one. */
const LIFETIME_SECONDS = 30;
const EDITS = 15;
const EDITS_PER_SECOND = 10;
const PURGING_SECONDS = 10;
/** The renders after the last edit. */
const SETTLING_MS = 3000;
const MEMORY_MIB = 128;
const MIB = 1024 ** 2;

const PAGE = `import { createElement } from "react";
export const headers = ({ loaderHeaders }) => ({
  "Cache-Control": "public, max-age=0, s-maxage=${LIFETIME_SECONDS}, stale-while-revalidate=3600",
  "Cache-Groups": loaderHeaders.get("Cache-Groups") ?? '"pages"',
});
export const loader = ({ params }) =>
  Response.json(Array.from({ length: 50 }, (_, index) => params.id + " " + index), {
    headers: { "Cache-Groups": '"page-' + params.id + '"' },
  });
export const meta = () => [{ title: "Page" }];
export default ({ loaderData }) =>
  createElement("main", null, loaderData.map((text) => createElement("p", { key: text }, text)));
`;

/** The memory of a process, with its part of what it shares with others. */
const readMiB = (pid?: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The sum of a metric's series in all processes. */
async function sum(servers: RunningServer[], series: string) {
  const texts = await Promise.all(servers.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()));
  const counts = texts.map((text) => Number(text.split(`\n${series} `)[1]?.split("\n")[0]));
  return counts.reduce((total, count) => total + count, 0);
}

/** Starts all processes at once. */
async function start(folder: string, processes: number, sharesPages: boolean) {
  const redis = await startRedis();
  process.once("exit", () => redis.child.kill());
  const paths = Array.from({ length: PAGES }, (_, id) => `/page/${id}`);
  const cdn = await startCdn(LOCATIONS, paths);
  const env = { ...NODE_ENV, REDIS_URL: redis.url, PURGE_URL: cdn.purgeUrl, SHARES_PAGES: String(sharesPages) };
  const cgroups = Array.from({ length: processes }, () => createMemoryCgroup(MEMORY_MIB * MIB));
  const startedAt = performance.now();
  const servers = await Promise.all(
    cgroups.map((cgroup) => {
      const node = [process.execPath, ...readNodeFlags(MEMORY_MIB)];
      const [file = "", ...args] = [...(cgroup?.command ?? []), ...node];
      return startServer(env, folder, [file, ...args]);
    }),
  );
  const startMs = performance.now() - startedAt;
  const startCpu = servers.reduce((sum, { child }) => sum + cpuSeconds({ pid: child.pid as number }), 0);
  return { redis, cdn, cgroups, servers, startMs, startCpuSeconds: startCpu / processes, sharesPages };
}

async function simulate({ redis, cdn, cgroups, servers, sharesPages, ...started }: Awaited<ReturnType<typeof start>>) {
  const processes = servers.length;
  const pids = [redis.child, ...servers.map(({ child }) => child)].map(({ pid }) => pid as number);
  const read = async () => ({
    ...cdn.counts,
    renders: await sum(servers, 'page_cache_renders_total{result="stored"}'),
    cpu: pids.map((pid) => cpuSeconds({ pid })),
    at: performance.now(),
  });
  cdn.open(
    servers.map(({ url }) => url),
    LIFETIME_SECONDS * 1000,
  );
  await setTimeout(2 * LIFETIME_SECONDS * 1000); // Until each page has expired once.
  const before = await read();
  await setTimeout(LIFETIME_SECONDS * 1000);
  const after = await read();
  const memory = { redis: readMiB(redis.child.pid), processes: servers.map(({ child }) => readMiB(child.pid)) };
  const seconds = (after.at - before.at) / 1000;
  const lifetimes = seconds / LIFETIME_SECONDS;
  const [redisCpu = 0, ...processCpu] = after.cpu.map((cpu, index) => (cpu - (before.cpu[index] ?? 0)) / seconds);

  cdn.keepCopies(); // So that only edits cause renders.
  const edit = (id: number) => {
    const server = servers[Math.floor(Math.random() * servers.length)];
    return fetch(`${server?.opsUrl}/cache/invalidate?group=page-${id % PAGES}`, { method: "POST" });
  };
  for (let id = 0; id < EDITS; id += 1) {
    await edit(id);
    await setTimeout(1000);
  }
  await setTimeout(SETTLING_MS);
  const edited = await read();
  cdn.leave(); // So that only purges are counted.
  const purgingSince = performance.now();
  const edits: Promise<unknown>[] = [];
  for (let id = 0; id < EDITS_PER_SECOND * PURGING_SECONDS; id += 1) {
    edits.push(edit(id));
    await setTimeout(1000 / EDITS_PER_SECOND);
  }
  const purgesPerSecond = (1000 * (cdn.counts.purges - edited.purges)) / (performance.now() - purgingSince);

  await Promise.all(edits);
  // If the machine is so busy that Redis doesn't answer in time, processes render for themselves.
  const storeErrors = await sum(servers, 'page_cache_store_total{result="error"}');
  cdn.close();
  await Promise.all(servers.map(({ stop }) => stop()));
  await redis.kill();
  for (const cgroup of cgroups) cgroup?.remove();
  return {
    processes,
    sharesPages,
    failures: edited.failures,
    storeErrors,
    rendersOfPage: (after.renders - before.renders) / lifetimes / PAGES,
    requestsPerSecond: (after.requests - before.requests) / seconds,
    rendersPerEdit: (edited.renders - after.renders) / EDITS,
    purgesPerSecond,
    processMiB: median(memory.processes),
    processesMiB: memory.processes.reduce((sum, mib) => sum + mib, 0),
    redisMiB: memory.redis,
    processCpuPercent: 100 * median(processCpu),
    redisCpuPercent: 100 * redisCpu,
    startMs: started.startMs,
    startCpuSeconds: started.startCpuSeconds,
  };
}

export type Simulated = Awaited<ReturnType<typeof simulate>>;

const folder = await buildWithRoutes(join(import.meta.dirname, "scaling-server.ts"), { "/page/:id": PAGE });
const rows: Simulated[] = [];
for (const processes of PROCESSES) {
  const started = [await start(folder, processes, true), await start(folder, processes, false)];
  rows.push(...(await Promise.all(started.map(simulate))));
  console.log(rows.slice(-2));
}
rmSync(folder, { recursive: true });
const measured = {
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  machine: `${cpus().length} cores, ${cpus()[0]?.model.trim()}`,
  rows,
};
const round = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(3)) : value);
writeFileSync(join(import.meta.dirname, "../docs/plots/scaling.json"), `${JSON.stringify(measured, round, 2)}\n`);
await import("./plots.ts");
