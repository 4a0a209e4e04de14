// `npm run bench -- warm-start` restarts a process with 128 MiB, requests 20,000 pages that are in a real Redis, and prints
// how many of them it had to render, and the CPU time, beside that of as many requests for one cached page. Writes
// docs/plots/warm-start.json and the table that is made from it.
// PROFILE=1 also writes a CPU profile to the current folder.
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { buildWithRoutes } from "../test/support/build-with-routes.ts";
import { createMemoryCgroup } from "../test/support/memory-cgroup.ts";
import { NODE_ENV, readNodeFlags } from "../test/support/node-flags.ts";
import { startRedis } from "../test/support/redis.ts";
import { startServer } from "../test/support/start-server.ts";
import { cpuSeconds } from "./servers.ts";

const PAGES = Number(process.env.BENCH_PAGES ?? 20_000);
const CONNECTIONS = 32;
const MEMORY_MIB = 128;

const PAGE = `import { createElement } from "react";
export const headers = () => ({ "Cache-Control": "public, max-age=0, s-maxage=86400" });
export const loader = ({ params }) => Array.from({ length: 50 }, (_, index) => params.id + " " + index);
export const meta = () => [{ title: "Page" }];
export default ({ loaderData }) =>
  createElement("main", null, loaderData.map((text) => createElement("p", { key: text }, text)));
`;

/** Requests pages over connections that stay open. Returns the number of failures. */
async function requestAll(url: string, toId: (index: number) => number) {
  const agent = new Agent({ keepAlive: true });
  let next = 0;
  let failures = 0;
  const client = async () => {
    while (next < PAGES) {
      const headers = { "accept-encoding": "gzip, deflate, br" };
      const request = get(`${url}/page/${toId(next++)}`, { agent, headers });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      if (response.statusCode !== 200) failures += 1;
      await once(response.resume(), "end");
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return failures;
}

const folder = await buildWithRoutes(join(import.meta.dirname, "../test/redis/server.ts"), { "/page/:id": PAGE });
const redis = await startRedis();
process.once("exit", () => redis.child.kill());
const cgroup = createMemoryCgroup(MEMORY_MIB * 1024 ** 2);

/** Starts a process, and prints the CPU time of a request for each page, and then for one page as often. */
async function run(label: string) {
  const profile = process.env.PROFILE ? ["--cpu-prof", `--cpu-prof-dir=${process.cwd()}`] : [];
  const node = [process.execPath, ...readNodeFlags(MEMORY_MIB), ...profile];
  const [file = "", ...args] = [...(cgroup?.command ?? []), ...node];
  const server = await startServer({ ...NODE_ENV, REDIS_URL: redis.url }, folder, [file, ...args]);
  const count = async (series: string) => {
    const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text();
    return Number(metrics.split(`\n${series} `)[1]?.split("\n")[0]);
  };
  const read = () => [server.child, redis.child].map(({ pid }) => cpuSeconds({ pid: pid as number }));
  const measure = async (toId: (index: number) => number) => {
    const [before, startedAt] = [read(), performance.now()];
    const failures = await requestAll(server.url, toId);
    const [after, seconds] = [read(), (performance.now() - startedAt) / 1000];
    const [cpu = 0, redisCpu = 0] = after.map((value, index) => value - (before[index] ?? 0));
    return { failures, seconds, cpu, redisCpu };
  };
  const countRenders = () => count('page_cache_renders_total{result="stored"}');
  const pages = { ...(await measure((index) => index)), renders: await countRenders() };
  const mib = (cgroup?.readBytes() ?? Number.NaN) / 1024 ** 2;
  const errors = await count('page_cache_store_total{result="error"}');
  console.log(label, { ...pages, errors, mib });
  const onePage = await measure(() => 0);
  const renders = (await countRenders()) - pages.renders;
  console.log("one page as often", onePage);
  await server.stop();
  return { pages, onePage: { ...onePage, renders } };
}

const cold = await run("cold");
await run("warm, but for pages that were stored too late on a busy machine");
const warm = await run("warm");
const toRow = (label: string, { cpu, renders }: typeof cold.pages) => ({ label, cpu, renders });
const rows = [
  toRow("different pages, none in Redis", cold.pages),
  toRow("different pages in Redis, after a restart", warm.pages),
  toRow("the same page, cached", warm.onePage),
];
export type WarmStart = (typeof rows)[number];
if (PAGES === 20_000) {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, a load of ${loadavg()[0]?.toFixed(0)}`;
  const measured = { date, node: process.versions.node, machine, rows };
  const round = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(5)) : value);
  writeFileSync(join(import.meta.dirname, "../docs/plots/warm-start.json"), `${JSON.stringify(measured, round, 2)}\n`);
  await import("./plots.ts");
}
cgroup?.remove();
await redis.kill();
rmSync(folder, { recursive: true });
