import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import autocannon from "autocannon";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** How long the load lasts. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 60);
const CONNECTIONS = 40;
/** How much more memory, in MB, the second half may take than the first. */
const NOISE = 30;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

const ASSETS = readdirSync("build/client/assets").map((name) => `/assets/${name}`);
const ADDRESSES: autocannon.Request[] = [
  { path: "/" },
  { path: "/", headers: { "Accept-Encoding": "br" } },
  { path: "/", headers: { "If-None-Match": "*" } },
  { path: "/", method: "POST", body: "a=b" },
  { path: "/?q=1", headers: { "Accept-Encoding": "gzip" } },
  { path: "/favicon.ico" },
  { path: "/robots.txt", headers: { Range: "bytes=0-9" } },
  { path: "/assets/unknown.js" },
  { path: "/rendered-when-asked/%0a" },
  { path: "/%E6%AC%A2%E8%BF%8E" },
  ...ASSETS.map((path) => ({ path, headers: { "Accept-Encoding": "br" } })),
  ...Array.from({ length: 50 }, (_, i) => ({ path: `/unknown/${i}`, headers: { "Accept-Encoding": "br" } })),
];

/** Keeps connecting, asking for something, often for more than one thing, and going before it has come. */
async function abort(signal: AbortSignal) {
  const { hostname, port } = new URL(server.url);
  for (let i = 0; !signal.aborted; i++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    const { path } = ADDRESSES[i % ADDRESSES.length] as { path: string };
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(1 + (i % 40)));
    await setTimeout(i % 7);
    socket.destroy();
  }
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

test(`${SECONDS} s of full load`, { timeout: (SECONDS + 60) * 1000 }, async () => {
  const before = await readProcessMetrics(server);
  const ending = new AbortController();
  const aborting = abort(ending.signal);
  const load = autocannon({ url: server.url, connections: CONNECTIONS, duration: SECONDS, requests: ADDRESSES });

  const samples: Awaited<ReturnType<typeof readProcessMetrics>>[] = [];
  const lines: Record<string, number> = {};
  for (let second = 0; second < SECONDS; second++) {
    await setTimeout(1000);
    samples.push(await readProcessMetrics(server));
    for (const { level } of server.lines.splice(0)) lines[String(level)] = (lines[String(level)] ?? 0) + 1;
  }
  const result = await load;
  ending.abort();
  await aborting;

  // The first fifth warms up.
  const [first, second] = [samples.slice(SECONDS / 5, SECONDS / 2), samples.slice(SECONDS / 2)].map((half) => ({
    residentMB: median(half.map(({ residentMB }) => residentMB)),
    heapMB: median(half.map(({ heapMB }) => heapMB)),
  }));
  const { requests, latency, errors, timeouts, statusCodeStats } = result;
  console.log({
    perSecond: requests.average,
    p99: latency.p99,
    errors,
    timeouts,
    statusCodeStats,
    before,
    first,
    second,
    lines,
  });

  expect([errors, timeouts, result["5xx"]]).toEqual([0, 0, 0]);
  expect(result["2xx"]).toBeGreaterThan(100 * SECONDS);
  expect(Object.keys(lines)).toEqual(["info"]);
  expect(second?.residentMB).toBeLessThan((first?.residentMB ?? 0) + NOISE);
  expect(second?.heapMB).toBeLessThan((first?.heapMB ?? 0) + NOISE);
  const settled = { timeout: 15_000, interval: 500 };
  const { resources, files } = before;
  await expect
    .poll(async () => (await readProcessMetrics(server)).resources, settled)
    .toBeLessThanOrEqual(resources + 1);
  await expect.poll(async () => (await readProcessMetrics(server)).files, settled).toBeLessThanOrEqual(files + 1);
});
