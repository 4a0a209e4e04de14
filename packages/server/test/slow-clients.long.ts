import { readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { exchange } from "./support/exchange.ts";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** The server drops a client that stalls for this time, or sends headers for half of it (process/listener.ts). */
const CLIENT_TIMEOUT_MS = 20_000;
/** As process/listener.ts has them. */
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 2000;
/** A busy machine closes connections late, but a client that is never dropped would stay for minutes. */
const MAX_DELAY_FACTOR = 3;
/** The factor by which the median request may be slower than at an idle server. */
const MAX_SLOWDOWN = 10;

const SENDERS = 500;
/** The kernel reserves 4 MB of buffers for each reader, so a small machine allows only a few hundred readers. */
const READERS = 100;
const READER_INTERVAL_MS = 30;
const VISIT_INTERVAL_MS = 200;

let server: RunningServer;
let idleServer: RunningServer;

beforeAll(async () => {
  server = await startServer({ CLIENT_TIMEOUT_MS: String(CLIENT_TIMEOUT_MS) });
  idleServer = await startServer();
});

afterAll(async () => {
  await server.stop();
  await idleServer.stop();
});

const sizeOf = (name: string) => statSync(`${SITE}/build/client/assets/${name}`).size;
const assets = readdirSync(`${SITE}/build/client/assets`).filter((name) => /\.(js|css)$/.test(name));
const biggest = assets.sort((a, b) => sizeOf(b) - sizeOf(a))[0];

/**
 * Opens a connection, sends some bytes, and then one character of `rest`, if any, each second, over and over.
 * Resolves, when the server has closed the connection, with its duration in ms.
 */
function connectSlowly(start: string, rest: string, isReading = true) {
  return new Promise<number>((resolve) => {
    const { hostname, port } = new URL(server.url);
    const startedAt = performance.now();
    const socket = connect(Number(port), hostname);
    if (isReading) socket.resume();
    socket.on("error", () => {});
    socket.write(start);
    let sent = 0;
    const timer = setInterval(() => rest && socket.write(rest.charAt(sent++ % rest.length)), 1000);
    socket.on("close", () => {
      clearInterval(timer);
      resolve(performance.now() - startedAt);
    });
  });
}

const sendSlowly = (count: number, start: string, rest: string) =>
  Array.from({ length: count }, () => connectSlowly(start, rest));

/** Requests more than the kernel's buffers hold. A client that doesn't read must write to notice that it is dropped. */
const readNothing = () =>
  connectSlowly(`GET /assets/${biggest} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(20), "\r\n", false);

/** Requests the home page over a new connection; resolves with the duration in ms. */
async function visit(url: string) {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { Connection: "close" } });
  expect(response.status).toBe(200);
  await response.text();
  return performance.now() - startedAt;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
const countSockets = async () => (await readProcessMetrics(server)).sockets;

test("slow clients are disconnected, and don't slow down other responses", {
  timeout: 300_000,
}, async () => {
  const durations: number[] = [];
  const idleDurations: number[] = [];
  let isOver = false;
  const visits = (async () => {
    while (!isOver) {
      // In turn, so that other work on the machine slows both servers.
      durations.push(await visit(server.url));
      idleDurations.push(await visit(idleServer.url));
      await setTimeout(VISIT_INTERVAL_MS);
    }
  })();

  // One after the other, since the server sends each some megabytes until the buffers are full.
  const readers: Promise<number>[] = [];
  while (readers.length < READERS) {
    readers.push(readNothing());
    await setTimeout(READER_INTERVAL_MS);
  }
  const headerSenders = [
    ...sendSlowly(SENDERS / 4, "", "GET / HTTP/1.1"),
    ...sendSlowly(SENDERS / 2, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "a"),
  ];
  // These have their response (405) at once, and stall in the body.
  const bodySenders = sendSlowly(
    SENDERS / 4,
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\na",
    "",
  );
  await expect.poll(countSockets).toBeGreaterThan(SENDERS + READERS);
  const atPeak = await readProcessMetrics(server);

  const ofHeaderSenders = await Promise.all(headerSenders);
  const ofBodySenders = await Promise.all(bodySenders);
  const ofReaders = await Promise.all(readers);
  isOver = true;
  await visits;
  const slowdown = median(durations) / median(idleDurations);
  const after = await readProcessMetrics(server);
  const dropped = {
    lastHeaderSender: Math.max(...ofHeaderSenders),
    firstBodySender: Math.min(...ofBodySenders),
    lastBodySender: Math.max(...ofBodySenders),
    lastReader: Math.max(...ofReaders),
  };
  console.log({ dropped, visits: durations.length, median: median(durations), slowdown, atPeak, after });

  expect(dropped.lastHeaderSender).toBeLessThan(dropped.firstBodySender);
  expect(dropped.lastBodySender).toBeLessThan(CLIENT_TIMEOUT_MS * MAX_DELAY_FACTOR);
  expect(dropped.lastReader).toBeLessThan(CLIENT_TIMEOUT_MS * MAX_DELAY_FACTOR);
  expect(slowdown).toBeLessThan(MAX_SLOWDOWN);
  await expect.poll(countSockets, { timeout: 60_000 }).toBeLessThan(5);
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});

test("requests that wait behind a slow page are handled, however long it takes", async () => {
  const grown = await startServer({}, SITE);
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(6000)}\r\n\r\n`;
  const last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  // More than one read, so the first ends within a request.
  const exchanged = exchange(grown.url, get("/example-pages/slow") + get("/").repeat(30) + last);
  await vi.waitUntil(() => grown.lines.find(({ msg }) => msg === "loading the slow page"), { timeout: 60_000 });
  await setTimeout(HEADERS_TIMEOUT_MS + 2 * CHECK_INTERVAL_MS);
  grown.child.kill("SIGUSR2");
  const { responses } = await exchanged;
  expect(responses.map(({ status }) => status)).toEqual(Array(32).fill(200));
  await grown.stop();
});
