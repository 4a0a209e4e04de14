import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import autocannon from "autocannon";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const FOLDER = SITE;
/** How long the load lasts. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 60);
const CONNECTIONS = 40;
/** How much more memory the server may use in the second half than in the first. */
const MAX_GROWTH_MB = 30;
/** A busy machine may be slow to send a response, but never fails to. */
const RESPONSE_TIMEOUT_S = 60;

let server: RunningServer;

beforeAll(async () => {
  // With a small heap, as in the image, memory rises and falls several times in each half.
  server = await startServer({ NODE_OPTIONS: "--max-old-space-size=64 --max-semi-space-size=2" }, FOLDER);
});

afterAll(() => server.stop());

const ASSETS = readdirSync(`${FOLDER}/build/client/assets`).map((name) => `/assets/${name}`);
const ADDRESSES: autocannon.Request[] = [
  { path: "/" },
  { path: "/", headers: { "Accept-Encoding": "br" } },
  { path: "/", headers: { "If-None-Match": "*" } },
  { path: "/", method: "POST", body: "a=b" },
  { path: "/?q=1", headers: { "Accept-Encoding": "gzip" } },
  { path: "/favicon.ico" },
  { path: "/robots.txt" },
  { path: "/film.mp4", headers: { Range: "bytes=0-9" } },
  { path: "/assets/unknown.js" },
  { path: "/example-pages/notes/3" },
  { path: "/%E6%AC%A2%E8%BF%8E" },
  ...ASSETS.map((path) => ({ path, headers: { "Accept-Encoding": "br" } })),
  ...Array.from({ length: 50 }, (_, i) => ({ path: `/unknown/${i}`, headers: { "Accept-Encoding": "br" } })),
];

/** Keeps connecting, sending one request or several, and leaving before the responses are complete. */
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

type Memory = { residentMB: number; heapMB: number };

test(`${SECONDS} s of full load and leaving clients: no request fails, and memory does not grow`, {
  timeout: (SECONDS + 300) * 1000,
}, async () => {
  const before = await readProcessMetrics(server);
  const leaving = new AbortController();
  const aborting = abort(leaving.signal);
  let isOver = false;
  const load = autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: ADDRESSES,
    timeout: RESPONSE_TIMEOUT_S,
  });
  load.then(() => {
    isOver = true;
  });

  const samples: Awaited<ReturnType<typeof readProcessMetrics>>[] = [];
  const levels: Record<string, number> = {};
  while (!isOver) {
    await setTimeout(1000);
    samples.push(await readProcessMetrics(server));
    for (const { level } of server.lines.splice(0)) levels[String(level)] = (levels[String(level)] ?? 0) + 1;
  }
  const result = await load;
  leaving.abort();
  await aborting;

  // The memory after garbage collection. The first fifth warms up.
  const half = Math.floor(samples.length / 2);
  const [first, second] = [samples.slice(Math.floor(samples.length / 5), half), samples.slice(half)].map((samples) => ({
    residentMB: Math.min(...samples.map(({ residentMB }) => residentMB)),
    heapMB: Math.min(...samples.map(({ heapMB }) => heapMB)),
  })) as [Memory, Memory];
  const { requests, latency, errors, timeouts, statusCodeStats = {} } = result;
  const speed = { perSecond: requests.average, p99: latency.p99 };
  console.log({ ...speed, errors, timeouts, statusCodeStats, before, first, second, levels });

  expect([errors, timeouts]).toEqual([0, 0]);
  expect(Object.keys(statusCodeStats).sort()).toEqual(["200", "206", "304", "404", "405"]);
  // Each connection has requested each address at least once.
  expect(requests.total).toBeGreaterThan(CONNECTIONS * ADDRESSES.length);
  expect(Object.keys(levels)).toEqual(["info"]);
  expect(second.residentMB).toBeLessThan(first.residentMB + MAX_GROWTH_MB);
  expect(second.heapMB).toBeLessThan(first.heapMB + MAX_GROWTH_MB);
  // All that the load opened is closed.
  const settled = { timeout: 60_000, interval: 500 };
  const read = () => readProcessMetrics(server);
  await expect.poll(async () => (await read()).resources, settled).toBeLessThanOrEqual(before.resources + 1);
  await expect.poll(async () => (await read()).files, settled).toBeLessThanOrEqual(before.files + 1);
});
