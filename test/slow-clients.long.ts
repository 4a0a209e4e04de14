import { readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const SENDERS = 500;
/** Each has the kernel keep 4 MB for it, of which a small machine allows few hundred. */
const READERS = 100;
/** The longest, in ms, that a client may take over its headers, and over anything. */
const HEADERS_LIMIT = 15_000;
const LIMIT = 30_000;
/** What a normal visitor may wait, in ms, half of the times. */
const USUAL_WAIT = 100;
const READER_INTERVAL = 30;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

const assets = readdirSync("build/client/assets").filter((name) => /\.(js|css)$/.test(name));
const biggest = assets.sort((a, b) => sizeOf(b) - sizeOf(a))[0];

function sizeOf(name: string) {
  return statSync(`build/client/assets/${name}`).size;
}

/**
 * Opens a connection, sends what is given, and then a byte of the rest each second.
 * Resolves, when the server has closed it, with the time that it lasted, in ms.
 */
function connectSlowly(begin: string, rest: string, isReading: boolean) {
  return new Promise<number>((resolve) => {
    const { hostname, port } = new URL(server.url);
    const begun = performance.now();
    const socket = connect(Number(port), hostname);
    if (isReading) socket.resume();
    socket.on("error", () => {});
    socket.write(begin);
    let sent = 0;
    const timer = setInterval(() => socket.write(rest.charAt(sent++ % rest.length)), 1000);
    socket.on("close", () => {
      clearInterval(timer);
      resolve(performance.now() - begun);
    });
  });
}

const sendSlowly = (count: number, begin: string, rest: string) =>
  Array.from({ length: count }, () => connectSlowly(begin, rest, true));

/** Asks for more than the kernel's buffers hold; only a write tells, to who doesn't read, that the connection is gone. */
const readNothing = () =>
  connectSlowly(`GET /assets/${biggest} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(30), "\r\n", false);

/** Asks for the home page four times a second until told to stop; resolves with what each answer took, in ms. */
async function visit(signal: AbortSignal) {
  const times: number[] = [];
  while (!signal.aborted) {
    const begun = performance.now();
    const response = await fetch(server.url, { headers: { Connection: "close" } });
    expect(response.status).toBe(200);
    await response.text();
    times.push(performance.now() - begun);
    await setTimeout(250);
  }
  return times.sort((a, b) => a - b);
}

test("slow clients are dropped, and a normal visitor notices nothing", { timeout: 120_000 }, async () => {
  const leaving = new AbortController();
  const visits = visit(leaving.signal);

  // One after the other, since each has its megabytes sent until the buffers are full.
  const readers: Promise<number>[] = [];
  while (readers.length < READERS) {
    readers.push(readNothing());
    await setTimeout(READER_INTERVAL);
  }
  const senders = [
    ...sendSlowly(SENDERS / 4, "", "GET / HTTP/1.1"),
    ...sendSlowly(SENDERS / 2, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "a"),
  ];
  const bodySenders = sendSlowly(
    SENDERS / 4,
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
    "a",
  );
  const metrics = () => readProcessMetrics(server);
  await expect.poll(async () => (await metrics()).sockets, { timeout: 9000 }).toBeGreaterThan(SENDERS + READERS);
  const atOnce = await metrics();

  const longest = async (lives: Promise<number>[]) => Math.round(Math.max(...(await Promise.all(lives))));
  const lived = {
    senders: await longest(senders),
    bodySenders: await longest(bodySenders),
    readers: await longest(readers),
  };
  leaving.abort();
  const waits = await visits;
  const visitor = { visits: waits.length, median: waits[Math.floor(waits.length / 2)], slowest: waits.at(-1) };
  console.log({ lived, visitor, atOnce, after: await metrics() });

  expect(lived.senders).toBeLessThan(HEADERS_LIMIT);
  expect(lived.bodySenders).toBeLessThan(LIMIT);
  expect(lived.readers).toBeLessThan(LIMIT);
  expect(visitor.median).toBeLessThan(USUAL_WAIT);
  await expect.poll(async () => (await metrics()).sockets).toBeLessThan(5);
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});
