import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const ROUNDS = 3;
const READERS = 500;
const REQUESTS = 5;
const VISITS = 60;
const VISIT_INTERVAL_MS = 50;

const EXPRESS_SERVER = fileURLToPath(new URL("support/express-server.mjs", import.meta.url));
const sizeOf = (path: string) => statSync(`${SITE}/build/client/${path}`).size;
const assets = readdirSync(`${SITE}/build/client/assets`).map((name) => `assets/${name}`);
const largest = assets.filter((path) => path.endsWith(".js")).sort((a, b) => sizeOf(b) - sizeOf(a))[0];

async function startExpress() {
  const child = spawn(process.execPath, [EXPRESS_SERVER, `${SITE}/build/client`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return `http://127.0.0.1:${JSON.parse(line).port}`;
}

/** Opens connections that request the largest file several times, and don't read. Returns a function that closes them. */
function readSlowly(url: string) {
  const { hostname, port } = new URL(url);
  const request = `GET /${largest} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(REQUESTS);
  const sockets = Array.from({ length: READERS }, () => connect(Number(port), hostname).on("error", () => {}));
  for (const socket of sockets) socket.write(request);
  return () => sockets.forEach((socket) => void socket.destroy());
}

/** Visits over new connections; resolves with how long each took, in ms. */
async function visit(url: string) {
  const visits: Promise<number>[] = [];
  for (let i = 0; i < VISITS; i++) {
    const startedAt = performance.now();
    const response = fetch(`${url}/robots.txt`, { headers: { Connection: "close" } });
    visits.push(response.then((response) => response.text()).then(() => performance.now() - startedAt));
    await setTimeout(VISIT_INTERVAL_MS);
  }
  return Promise.all(visits);
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("with 500 slow readers, a user waits less than with stock Express", async () => {
  const server = await startServer();
  onTestFinished(async () => void (await server.stop()));
  const express = await startExpress();
  const waits = { own: [] as number[], express: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, url] of [
      ["own", server.url],
      ["express", express],
    ] as const) {
      const close = readSlowly(url);
      waits[name].push(...(await visit(url)));
      close();
      await setTimeout(1000);
    }
  }
  const [own, stock] = [mean(waits.own), mean(waits.express)];
  console.log({
    own,
    stock,
    ratio: own / stock,
    longest: Math.max(...waits.own),
    longestStock: Math.max(...waits.express),
  });
  expect(own / stock).toBeLessThan(1);
});
